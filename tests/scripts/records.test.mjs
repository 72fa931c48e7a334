// What the panels draw of records, as core/evidence writes them to JSON.

import assert from "node:assert/strict";
import { test } from "node:test";
import { selectionName, selectionOf, sidesOf, withChances } from "../../app/components/evidence.js";
import { drawnMaps, windowLines, windowsOf, wordMap } from "../../app/panels/attention_map/records.js";
import { barsOf } from "../../app/panels/effects/records.js";

const sentence = (role, text) => {
  const tokens = [...text.matchAll(/\S+/g)].map(({ 0: word, index }) => ({ text: word, start: index, unknown: false }));
  return { role, text, truncated: 0, tokens, line_starts: [0] };
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
  nothing: "",
  stays: "",
  of_words: true,
  ...changes,
});
const explanation = (...evidence) => ({
  first: sentence("premise", "a dog"),
  contexts: [sentence("hypothesis", "the cat")],
  judged: "hypothesis",
  evidence,
});

test("a text that looks at itself stands along both edges", () => {
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

test("other probabilities keep the looks of their classes", () => {
  const [one] = withChances([{ label: "x", p: 0.5, said: "−0.50 of 1", light: "#123" }], [-0.25]);
  assert.deepEqual(one, { label: "x", p: -0.25, said: "\u22120.25 of 1", light: "#123" });
});

test("a map shows what its model has, and is named only where it is an external one's", () => {
  const own = wordMap(map({ scores: [[3, 1]], null: [0.1, 0.2], null_score: 2, nothing: "(no word)" }), "score");
  assert.deepEqual([own.show, own.of, own.stays], ["score", "", ""]);
  assert.deepEqual(own.none, { word: "(no word)", weights: [0.1, 0.2], scores: [2, 2] });
  assert.equal(wordMap(map({}), "score").show, "weight");
  assert.equal(wordMap(map({}), "column").show, "column");
  assert.equal(wordMap(map({ units: "similarity" }), "column").show, "weight");
});

test("each window is listed with the window that it attends to most, or with none if no window is similar", () => {
  const windows = map({
    units: "windows",
    of_words: false,
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
  const told = explanation(map({}), windows, map({ units: "phrases", of_words: false }), { kind: "filter_provenance", width: 3 });
  assert.deepEqual(
    drawnMaps(told.evidence, told).map(({ units }) => units),
    ["words", "windows"],
  );
  const { width, lines: listed } = windowsOf(windows, told);
  assert.deepEqual([width, listed], [3, lines]);
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
