import assert from "node:assert/strict";
import { test } from "node:test";
import { differenceLook, scaleColour, scaleEnd, weightLook } from "../../app/components/colours.js";
import { withValues } from "../../app/panels/attention_map/cells.js";
import { drawn, factsOf, rangeOf, ticksOf, wordOf } from "../../app/panels/effects/bars.js";
import { Phrases, phraseName, phraseOf } from "../../app/panels/phrase_selection/phrases.js";

const near = (value, expected) => assert.ok(Math.abs(value - expected) < 1e-9, `${value}, not ${expected}`);

test("even weights are not painted brightest", () => {
  const even = Array(10).fill(0.1);
  near(scaleEnd(even, 1), 0.2);
  near(scaleEnd([0.91, ...Array(9).fill(0.01)], 1), 0.91);
  near(scaleEnd([1, 1], 1), 1);
  near(scaleEnd([15, 15]), 30);
  near(scaleEnd([], 1), 1e-9);
});

test("a colour stays on its scale, and a number on it has contrast", () => {
  assert.equal(scaleColour(-1), scaleColour(0));
  assert.equal(scaleColour(2), scaleColour(1));
  const luminance = (colour) => {
    const parts = colour.match(/\d+/g).slice(0, 3);
    const [r, g, b] = parts.map((c) => (c / 255 <= 0.04045 ? c / 255 / 12.92 : ((c / 255 + 0.055) / 1.055) ** 2.4));
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const contrast = (ground, ink) => {
    const [low, high] = [luminance(ground), ink === "#fff" ? 1 : 0].sort((one, other) => one - other);
    return (high + 0.05) / (low + 0.05);
  };
  for (let k = 0; k <= 100; k += 1) {
    const { ground, ink } = weightLook(k / 100);
    assert.ok(contrast(ground, ink) >= 4.5, `${k} %`);
  }
  for (let k = -100; k <= 100; k += 1) {
    const look = differenceLook(k / 100);
    const [grounds, inks] = [look.ground.match(/rgb\([^)]*\)/g), look.ink.match(/#[0f]{3}/g)];
    assert.equal(grounds.length, 2);
    grounds.forEach((ground, theme) => assert.ok(contrast(ground, inks[theme]) >= 4.5, `${k} %, theme ${theme}`));
  }
});

test("an even map is drawn in the middle of its scale, and columns add up to one", () => {
  const weights = Array.from({ length: 3 }, () => Array(4).fill(0.25));
  const map = { weights, scores: [], none: null, show: "weight", of: "", units: "words" };
  const even = withValues(map);
  assert.deepEqual([even.low, even.high], [0, 0.5]);
  const column = withValues({ ...map, show: "column" });
  near(column.high, 2 / 3);
  near(column.values[0][0], 1 / 3);
  const scores = withValues({ ...map, show: "score", scores: [[-1, 2]] });
  assert.deepEqual([scores.low, scores.high], [-1, 2]);
});

test("effects too small to mean anything have no bar", () => {
  const cases = [
    [0.049, null, false],
    [-0.05, null, true],
    [0.0004, { name: "norm" }, true],
  ];
  for (const [effect, unsigned, shown] of cases) assert.equal(drawn(effect, { unsigned }), shown);
  const words = [
    { effect: 0.01, spread: 0.9 },
    { effect: null, spread: null },
  ];
  const small = rangeOf(words, { unit: "log p" });
  assert.deepEqual([small.known, small.bars], [true, false], "numbers, and no axis for bars that are not there");
  const all = rangeOf([{ effect: 2, spread: 0.5 }, ...words], { unit: "log p" });
  assert.deepEqual([all.low, all.high, all.bars], [0, 2.5, true]);
});

test("the numbers of an axis do not lie on each other", () => {
  const wide = ticksOf({ low: -2, high: 2 });
  assert.deepEqual(wide, [
    { at: 0, text: "\u22122.00" },
    { at: 0.5, text: "0.00" },
    { at: 1, text: "+2.00" },
  ]);
  assert.deepEqual(
    ticksOf({ low: -0.1, high: 14 }).map(({ text }) => text),
    ["0.00", "+14"],
  );
});

test("a word's line lists its facts", () => {
  const word = wordOf("not", 3, [1.5, 0.25, 0.1]);
  const known = { unit: "log p", probability: 0.9, method: "dropped" };
  const line = factsOf(word, known, "contradiction").replaceAll("\u00a0", " ");
  assert.equal(
    line,
    "not: supports the verdict by 1.50 nats (log p); spread 0.25; contradiction 90 % with it, 10 % without",
  );
  const mean = factsOf(word, { ...known, method: "taken-away" }, "contradiction");
  assert.match(mean, /10.% on average without it or with another word$/, "the mean is not what dropping alone leaves");
  assert.equal(factsOf(wordOf("a", 0), null, "x"), "a: has no effect by this method");
});

test("phrases are named by their place and read from the text", () => {
  assert.equal(phraseName({ side: 1, index: 2 }), "b3");
  assert.deepEqual(phraseOf("a12"), { side: 0, index: 11 });
  assert.equal(phraseOf("c1"), null);
  const sentence = (role, text) => {
    const tokens = text.split(" ").map((word) => ({ text: word, start: 0, unknown: false }));
    return { role, text, truncated: 0, tokens };
  };
  const phrase = (first, end, partner, score) => ({ span: [first, end], partner, score });
  const record = {
    kind: "phrase_selection",
    sides: [
      { role: "premise", phrases: [phrase(0, 1, 0, 0.5), phrase(1, 3, 0, 0.25)] },
      { role: "hypothesis", phrases: [phrase(0, 1, 1, 0.75)] },
    ],
    choices: [
      { pooling: "kmin", k: 1, kept: [[1], [0]] },
      { pooling: "kmax", k: 1, kept: [[0], [0]] },
    ],
    pooling: "kmin",
    k: 1,
  };
  const explanation = {
    first: sentence("premise", "a big dog"),
    contexts: [sentence("hypothesis", "dogs")],
    evidence: [record],
  };
  const phrases = new Phrases({ explanation, classes: [{ label: "x" }] });
  assert.equal(phrases.text(0, 1), "big dog");
  assert.equal(phrases.describe(1, 0, 1), "“\u2068big dog\u2069” of the premise: aᵢ = 0.250, best matched by “\u2068dogs\u2069” of the hypothesis; kept by k-min.");
  assert.deepEqual(phrases.poolingsOf(1, 1, 0), ["kmin", "kmax"]);
  assert.equal(phrases.classes([0.5])[0].p, 0.5);
});
