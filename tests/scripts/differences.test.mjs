// Where two explanations differ: attention, word effects, and the sentences that say so.

import assert from "node:assert/strict";
import test from "node:test";

import {
  difference,
  incomparable,
  mostDifferent,
  movedBy,
  moveOf,
  verdictsOf,
} from "../../app/components/differences.js";
import { keepsLengths, partsOf } from "../../app/components/routes.js";

const near = (values, expected) =>
  values.forEach((value, i) => assert.ok(Math.abs(value - expected[i]) < 1e-9, `${values}`));
const places = (count) => Array.from({ length: count }, (_, i) => [i, i]);

test("a difference subtracts the weights, and its total variation is half the sum of its absolute cells", () => {
  const light = { weights: [[0.7, 0.3], [0.5, 0.5]] }; // prettier-ignore
  const twoSided = { weights: [[0.2, 0.2], [0.5, 0.3]], none: { weights: [0.6, 0.2] } }; // prettier-ignore
  const { weights, none, variation } = difference(light, twoSided, places(2), places(2));
  near(weights.flat(), [0.5, 0.1, 0, 0.2]);
  near(none, [-0.6, -0.2]);
  near(variation, [0.6, 0.2]);
  near(difference(twoSided, twoSided, places(2), places(2)).variation, [0, 0]);
});

test("weight on words that only one version has counts as moved", () => {
  const before = { weights: [[0.75, 0.25]] };
  const after = { weights: [[0.5, 0.5], [1, 0]] }; // prettier-ignore
  const { weights, variation } = difference(before, after, [[0, 0]], [[0, 0]]);
  near(weights[0], [0.25]);
  near(variation, [0.5]);
  assert.deepEqual(difference(before, after, [], []).variation, []);
});

test("what a transformer's word gives to its own sentence counts as moved", () => {
  const transformer = { weights: [[0.1, 0.1]], none: { weights: [0.3] } }; // and 0.5 to its own sentence
  near(difference({ weights: [[0.5, 0.5]] }, transformer, places(1), places(2)).variation, [0.8]);
});

test("over several lines, each read apart, a row's weights are shares of the whole", () => {
  const apart = { weights: [[1, 0, 0.5, 0.5]], lines: 2 };
  near(difference(apart, { weights: [[0.5, 0, 0.25, 0.25]] }, places(1), places(4)).variation, [0]);
});

const word = (key, moved) => ({ key, text: key, moved });

test("the word whose effects differ most is one that all have", () => {
  const first = [word("not", 31), word("dog", 12), word("only here", 90), word("unknown", null)];
  const second = [word("dog", 14), word("not", 2), word("unknown", 40)];
  assert.deepEqual(mostDifferent([first, second]), [first[0], second[1]]);
  assert.equal(mostDifferent([first, [word("other", 3)]]), null);
});

test("a word named as a reason for a verdict comes first if its effects differ at least half as much", () => {
  const first = [word("not", 31), { ...word("dog", 22), named: true }, { ...word("cat", 5), named: true }];
  assert.deepEqual(mostDifferent([first, [word("not", 11), word("dog", 12), word("cat", 1)]])[0], first[1]);
  assert.deepEqual(mostDifferent([first, [word("not", 2), word("dog", 21), word("cat", 1)]])[0], first[0]);
});

const column = (name, followed, unit, words = []) => ({ name, followed, effects: { unit }, words });

test("a move is in points of the verdict's probability, or in the score", () => {
  assert.equal(
    moveOf(column("A", "contradiction", "log p"), word("not", 31.4)),
    "A’s “contradiction” falls by 31 points",
  );
  assert.equal(moveOf(column("A", "neutral", "log p"), word("not", -2.06)), "A’s “neutral” rises by 2.1 points");
  const corrected = column("A + 2 corrections", "neutral", "log p");
  assert.equal(moveOf(corrected, word("not", -2.06)), "A + 2 corrections’ “neutral” rises by 2.1 points");
  assert.equal(moveOf(column("A", "neutral", "log p"), word("not", 0.02)), "A’s “neutral” does not change");
  assert.equal(moveOf(column("B", "similarity", "score"), word("not", 0.42)), "B’s “similarity” falls by 0.42");
});

test("without a word means that it is dropped, as in the reason for a verdict", () => {
  const near = (value, expected) => assert.ok(Math.abs(value - expected) < 1e-9, `${value}`);
  const entailed = { unit: "log p", probability: 0.96 };
  near(movedBy([Math.log(0.96 / 0.06), null, null], entailed), 90);
  near(movedBy([3, null, 0.06], entailed), 90);
  assert.equal(movedBy([0.4, null, null], { unit: "score", probability: 1 }), 0.4);
  assert.equal(movedBy([null, null, null], entailed), null);
  assert.equal(movedBy(undefined, entailed), null);
});

test("models whose outputs have different units are not compared by a word", () => {
  const two = [
    column("A", "paraphrase", "log p", [word("not", 31)]),
    column("B", "similarity", "score", [word("dog", -0.42)]),
  ];
  const said = incomparable(two, 2);
  assert.match(said, /different units/);
  assert.match(
    said,
    /without “not”, A’s “paraphrase” falls by 31 points; without “dog”, B’s “similarity” rises by 0\.42\./,
  );
  assert.match(incomparable(two, 1), /no word in common/);
});

const says = (name, label, p, more = {}) => ({
  name,
  classes: [
    { label, p, ...more },
    { label: "other", p: 1 - p },
  ],
});

test("verdicts are said first, and whether they are the same", () => {
  assert.equal(
    verdictsOf([says("A", "neutral", 0.9), says("B", "neutral", 0.6)]),
    "Both say neutral (A 90\u00a0%, B 60\u00a0%).",
  );
  assert.equal(
    verdictsOf([says("A", "neutral", 0.9), says("B", "contradiction", 0.6)]),
    "They disagree: A says neutral (90\u00a0%), B says contradiction (60\u00a0%).",
  );
  assert.equal(
    verdictsOf([says("A", "answer", 0.2, { score: true }), says("B", "answer", 0.1, { score: true })]),
    "Answer: A 20\u00a0%, B 10\u00a0%.",
  );
  assert.equal(verdictsOf([says("A", "neutral", 0.9)]), "");
});

test("a bar of shares adds up to the difference, with what works against it left of zero", () => {
  const { parts, zero } = partsOf([{ share: -6 }, { share: 1 }, { share: -1 }], -6);
  near(parts.map(({ share }) => share), [1, -1 / 6, 1 / 6]); // prettier-ignore
  near(parts.map(({ start }) => start), [1 / 8, 0, 7 / 8]); // prettier-ignore
  near(parts.map(({ width }) => width), [6 / 8, 1 / 8, 1 / 8]); // prettier-ignore
  near([zero], [1 / 8]);
});

test("only edits that keep the numbers of words make two versions of equal lengths", () => {
  const kept = [["replace 1 0 Three"], ["swap 1 0 4"], ["replace 1 0 a", "swap 0 1 2"]];
  const others = [
    [],
    ["drop 1 0"],
    ["replace 1 0 ice cream"],
    ["insert 0 0 not"],
    ["replace 1 0 a", "drop 1 1"],
    ["exchange"],
  ];
  assert.deepEqual([...kept, ...others].map(keepsLengths), [true, true, true, ...others.map(() => false)]);
});
