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
  filters: { activation: "tanh", filters, logit_bias: [-0.5, 0.25] },
};
const words = [
  ["a", "cat"],
  ["the", "dog"],
];
const stages = (row) =>
  stagesOf(data, row, words, ["yes", "no"], {
    logits: [-1, 12.25],
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
    ["3", "9", "0.25"],
    ["−1", "12.25"],
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

test("a model that compares words first shows what a filter finds in the comparison", () => {
  const of_premise = { rows: "premise", filters: [filter(0, 0, [1, -2])] };
  const compared = [[], [0.25, 0.5, -1, 0.125, 0, -0.125], [1, 2, 3, 4, 5, 6]];
  const two_sided = {
    map: { ...data.map, null: [0, 0.125], nothing: "(no word)", null_score: 1.5 },
    filters: { ...data.filters, compared },
    opposite: of_premise,
  };
  const [, scores, weights, own, parts, , , shares, logits] = stagesOf(
    two_sided,
    1,
    words,
    ["yes", "no"],
    { logits: [-1, 10.25], probabilities: [0.05, 0.95] },
  );
  const texts = ({ cells }) => cells.map(({ text }) => text);
  assert.deepEqual(
    [scores, weights].map((line) => texts(line).at(-1)),
    ["1.5", "0.13"],
  );
  assert.deepEqual(texts(own), ["0.25", "0.5", "−1", "0.13", "0", "−0.13"]);
  assert.deepEqual(
    own.cells[1].from,
    [0, 1, 2],
    "the null word is in the context",
  );
  assert.deepEqual(
    own.cells.map(({ from }) => from.length > 0),
    [false, true, true, true, false, false],
    "the word itself, the words across it and the bias are not made of the weights",
  );
  const terms = stagesOf(two_sided, 0, words, ["yes", "no"], {
    logits: [-1, 10.25],
    probabilities: [0.05, 0.95],
  })[3];
  assert.deepEqual(texts(terms), ["1", "2", "3", "4", "5", "6"], "of the filter, not of the word's place"); // prettier-ignore
  assert.deepEqual(
    parts.cells.map(({ word, from }) => [word, from.length]),
    [["left", 0], ["itself", 6], ["right", 0], ["bias", 0]], // prettier-ignore
  );
  assert.deepEqual(
    shares.cells.map(({ text, word }) => [text, word]),
    [["3", "this filter"], ["9", "the other 2"], ["−2", "of the premise"], ["0.25", "bias"]], // prettier-ignore
  );
  assert.deepEqual(logits.cells[1].from, [0, 1, 2, 3]);
});

test("the path of a word that won no filter ends at its weights", () => {
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

test("of many words those with the largest weights stand in the sentence's order", () => {
  const many = [..."abcdefghijklmn"];
  const weights = [many.map((_, j) => (j * 5) % 14)];
  const [, scores] = stagesOf(
    { ...data, map: { scores: weights, weights } },
    0,
    [["a"], many],
    ["yes", "no"],
    { logits: [-1, 2], probabilities: [0.05, 0.95] },
  );
  const seen = scores.cells.map(({ word }) => word);
  assert.deepEqual(
    seen,
    many.filter((_, j) => weights[0][j] > 1),
  );
});
