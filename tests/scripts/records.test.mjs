// What the panels draw of records, as core/evidence writes them to JSON.

import assert from "node:assert/strict";
import { test } from "node:test";
import { crossingRows, lineStarts, selectionName, selectionOf, sidesOf, withChances } from "../../app/components/evidence.js";
import { mapsOf, staysOf, windowLines, wordMap } from "../../app/panels/attention_map/records.js";
import { factsOf, methodsOf } from "../../app/panels/belief/facts.js";
import { barsOf, complete } from "../../app/panels/effects/records.js";

const plain = (text) => text.replaceAll("\u00a0", " ");
const sentence = (role, text) => {
  const tokens = [...text.matchAll(/\S+/g)].map(({ 0: word, index }) => ({ text: word, start: index, unknown: false }));
  return { role, text, truncated: 0, tokens };
};
const map = (changes) => ({
  kind: "attention_map",
  rows: "hypothesis",
  columns: "premise",
  units: "words",
  weights: [
    [0.75, 0.25],
    [0.5, 0.5],
  ],
  scores: [],
  apart: false,
  name: "layer 1, head 1",
  null: [],
  ...changes,
});
const explanation = (...evidence) => ({
  first: sentence("premise", "a dog"),
  contexts: [sentence("hypothesis", "the cat")],
  judged: "hypothesis",
  evidence,
});

test("each line begins with its first word, and a text that looks at itself stands along both edges", () => {
  assert.deepEqual(lineStarts(sentence("premise", "a dog\n\nis out\nhere")), [0, 2, 4]);
  assert.deepEqual(lineStarts(sentence("premise", "a dog")), [0]);
  assert.deepEqual(lineStarts(sentence("premise", "")), []);
  const sides = sidesOf(explanation(), ["hypothesis", "premise"], { unread: "premise" });
  assert.deepEqual(
    sides.map(({ role, axis, judged, read }) => [role, axis, judged, read]),
    [
      ["premise", "column", false, false],
      ["hypothesis", "row", true, true],
    ],
  );
  const both = sidesOf(explanation(), ["hypothesis", "hypothesis"]);
  assert.deepEqual(
    both.map(({ role, axis }) => [role, axis]),
    [
      ["hypothesis", "column"],
      ["hypothesis", "row"],
    ],
  );
});

test("words that look across each other are named where they look far enough", () => {
  assert.deepEqual(crossingRows({ crossed_by: [[0.5, 0.49, 0.9]] }, 0), [2, 0]);
  assert.deepEqual(crossingRows({ crossed_by: null }, 0), []);
});

test("other probabilities keep the looks of their classes", () => {
  const [one] = withChances([{ label: "x", p: 0.5, said: "−0.50 of 1", light: "#123" }], [-0.25]);
  assert.deepEqual(one, { label: "x", p: -0.25, said: "\u22120.25 of 1", light: "#123" });
});

test("a map shows what its model has, and is named only where it is an external one's", () => {
  const own = wordMap(map({ scores: [[3, 1]], null: [0.1, 0.2], null_score: 2 }), "score");
  assert.deepEqual([own.show, own.of, own.stays], ["score", "", ""]);
  assert.deepEqual(own.none, { word: "(no word)", weights: [0.1, 0.2], scores: [2, 2] });
  assert.equal(wordMap(map({}), "score").show, "weight");
  assert.equal(wordMap(map({}), "column").show, "column");
  assert.equal(wordMap(map({ units: "similarity" }), "column").show, "weight");
  const head = map({ null: [0.25, 0.25], own: [0.5, 0.25] });
  assert.equal(wordMap(head, "weight").none.word, "special tokens");
  assert.equal(
    plain(staysOf(head)),
    "On average a word of the hypothesis gives 38 % to its own sentence, 25 % to special tokens, and 38 % to the premise.",
  );
});

test("each window is listed with the one that it looks at most, and none where nothing is alike", () => {
  const windows = map({
    units: "windows",
    weights: [
      [0.25, 0.75],
      [0, 0],
    ],
    scores: [
      [0.1, 0.5],
      [-0.1, -0.5],
    ],
  });
  const lines = [
    [0, 1, 0.5, 0.75],
    [1, null, -0.1, 0],
  ];
  assert.deepEqual(windowLines(windows), lines);
  const told = explanation(map({}), windows, map({ units: "phrases" }), { kind: "filter_provenance", width: 3 });
  const [words, listed, ...others] = mapsOf(told.evidence, told, {});
  assert.deepEqual([words.units, listed.units, listed.width, listed.lines, others], ["words", "windows", 3, lines, []]);
});

test("bars are the effects of a method, or of one of its parts alone", () => {
  const word = (role, effect, part) => ({
    role,
    effect,
    spread: null,
    probabilities: [0.25, 0.75],
    by_way: { dropped: part },
    spread_by_way: {},
  });
  const record = {
    method: "taken-away",
    labels: ["x", "y"],
    verdict: "y",
    words: [word("premise", 1, 2), word("hypothesis", -3, 4), word("premise", null, null)],
  };
  assert.deepEqual(barsOf(record, "taken-away"), {
    premise: [
      [1, null, 0.75],
      [null, null, 0.75],
    ],
    hypothesis: [[-3, null, 0.75]],
  });
  assert.deepEqual(barsOf(record, "dropped").hypothesis, [[4, null, null]]);
  assert.equal(barsOf(record, "attention"), null);
  const sums = [
    [1, 1.04],
    [1, 1.2],
    [10, 10.4],
    [0, 0.06],
  ];
  assert.deepEqual(sums.map(complete), [true, false, true, false]);
});

test("faithfulness is told in facts, and curves are drawn for the methods with a title, best first", () => {
  const curve = (...aopc) => ({ sufficiency: [0.25], comprehensiveness: [-0.5], aopc });
  const curves = { dropped: curve(0.5, 0.25), nudged: curve(9, 9), "gradient-norm": curve(3, 1.5), random: curve(1, 1) };
  const titles = { dropped: "Dropped", "gradient-norm": "Gradient norm" };
  const { methods, random } = methodsOf({ curves, titles, steps: ["20 %"] });
  assert.deepEqual(
    methods.map(({ title, left, taken }) => [title, left, taken]),
    [
      ["Gradient norm", 3, 1.5],
      ["Dropped", 0.5, 0.25],
    ],
  );
  assert.deepEqual(
    [random.title, random.left, random.steps],
    ["Random orders", 1, ["20 %: +0.25 with these alone, \u22120.50 without"]],
  );
  const moved = { changed: 3, permutations: 100, mean: [0.5, 0.5], total_variation: 0.125, uniform: [0.25, 0.75] };
  const record = {
    ...{ moved, named: [2, 3], tau_b: [0.5, null], maps: [map({})], adversary: null, largest_change: 0.02 },
    ...{ labels: ["entailment", "contradiction"], verdict: "contradiction", probabilities: [0.25, 0.75] },
  };
  const facts = factsOf(record, ["yes", "no"]).map(({ name, says }) => [name, plain(says)]);
  assert.deepEqual(facts.slice(1, 4), [
    [
      "Permuted attention",
      "The verdict changes in 3 of 100 permutations; on average the class probabilities move by 13 percentage points (total variation).",
    ],
    ["Uniform attention", "gives no 75 %, the same verdict."],
    [
      "Weight against effect",
      "τ-b +0.50 between the weight of a link and the size of its effect, over all links.",
    ],
  ]);
  const adversary = { maps: [], divergence: 0, total_variation: 0, probabilities: [0.5, 0.5] };
  const last = (changes) => factsOf({ ...record, adversary: { ...adversary, ...changes } }, ["yes", "no"]).at(-1).says;
  assert.match(last({}), /^None was found/);
  assert.match(last({ maps: [{}], divergence: 0.01 }), /^No other attention was found.*lies 0\.010 of at most 0\.69 nats/);
  assert.match(plain(last({ maps: [{}], divergence: 0.5 })), /^Attention 0\.50 of at most 0\.69.*no 50 % instead of 75 %/);
});

test("selections are named as in links", () => {
  for (const [name, row, column] of [
    ["x6y14", 5, 13],
    ["x1", 0, null],
    ["y2", null, 1],
    ["none", null, null],
  ]) {
    assert.deepEqual(selectionOf(name), { row, column });
    assert.equal(selectionName({ row, column }), name);
  }
  assert.deepEqual(selectionOf(null), { row: null, column: null });
});
