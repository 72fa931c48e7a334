// The lines of a word's way to the verdict, from the records.

import assert from "node:assert/strict";
import { test } from "node:test";
import { stagesOf, written } from "../../app/panels/word_path/stages.js";

const filter = (index, position, shares) => ({
  index,
  position,
  offsets: [0.5, -0.25, 0],
  context: 1,
  bias: 0.1,
  preactivation: 1.35,
  activation: Math.tanh(1.35),
  logit_shares: shares,
});
const filters = [
  filter(0, 1, [2, 0]),
  filter(1, 1, [0.5, 3]),
  filter(2, 0, [0, 9]),
];
const data = {
  map: { scores: [[1, 2], [0, -3]], weights: [[0.25, 0.75], [0.95, 0.05]] }, // prettier-ignore
  filters: { activation: "tanh", filters },
};
const words = [
  ["a", "cat"],
  ["the", "dog"],
];
const stages = (row) =>
  stagesOf(data, row, words, ["yes", "no"], {
    logits: [-1, 2],
    probabilities: [0.05, 0.95],
  });

test("a word's numbers stand line by line, each with the cells that it is made of", () => {
  const lines = stages(1).map(({ cells }) => cells.map(({ text }) => text));
  assert.deepEqual(lines, [
    ["cat"],
    ["0", "−3"],
    ["0.95", "0.05"],
    ["0.5", "−0.25", "0", "1", "0.1"],
    ["1.35"],
    ["0.87"],
    ["0.5", "3"],
    ["−1", "2"],
    ["5.0\u00a0%", "95\u00a0%"],
  ]);
  const parts = stages(1)[3];
  assert.equal(
    parts.name,
    "filter 1: parts",
    "of the two that it wins, the one that pushes towards the verdict",
  );
  assert.deepEqual(parts.cells.map(({ word, from }) => [word, from]).slice(2), [
    ["right", []],
    ["context", [0, 1]],
    ["bias", []],
  ]);
});

test("a word without a filter of its own ends at its weights", () => {
  const [, , last, ...more] = stagesOf(
    { ...data, filters: { ...data.filters, filters: filters.slice(2) } },
    1,
    words,
    ["yes", "no"],
    { logits: [-1, 2], probabilities: [0.05, 0.95] },
  );
  assert.deepEqual(more, []);
  assert.match(last.says, /^No filter’s best window/);
  assert.deepEqual(
    [written(0.001), written(-0.001), written(0)],
    ["≈0", "≈0", "0"],
  );
});
