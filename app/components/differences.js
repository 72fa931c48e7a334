// Pure functions of Compare: differences between explanations of one pair, or of two versions, in attention and word
// effects.

import { capital } from "./wording.js";
import { named, numberOf } from "./shares.js";

const sum = (numbers) => numbers.reduce((all, one) => all + one, 0);

/**
 * A word's weights as shares of its total (a row adds up to 1 on each of `lines` read separately): over these positions,
 * on no word, over the words at other positions, and within its own sentence.
 * @typedef {{ weights: number[][], none?: { weights: number[] } | null, lines?: number }} Shares
 * @param {Shares} map
 * @param {number} row
 * @param {number[]} places
 */
function rowOf({ weights, none, lines = 1 }, row, places) {
  const all = weights[row].map((weight) => weight / lines);
  const nothing = (none?.weights[row] ?? 0) / lines;
  const common = places.map((place) => all[place]);
  return { common, nothing, others: sum(all) - sum(common), own: 1 - sum(all) - nothing };
}

/**
 * The weights of one map minus another's over their shared words (`none`: the difference on no word, 0 if neither
 * has such a column), and the total variation of each row: half the sum of the absolute differences, 0 to 1. Weight on
 * words that only one map has counts as moved.
 * @param {Shares} base
 * @param {Shares} other
 * @param {number[][]} rows the positions of each word in both
 * @param {number[][]} columns
 */
export function difference(base, other, rows, columns) {
  const [own, theirs] = [0, 1].map((side) => columns.map((places) => places[side]));
  const pairs = rows.map(([i, k]) => [rowOf(base, i, own), rowOf(other, k, theirs)]);
  const weights = pairs.map(([one, two]) => one.common.map((weight, j) => weight - two.common[j]));
  const none = pairs.map(([one, two]) => one.nothing - two.nothing);
  const variation = pairs.map(([one, two], i) => {
    const elsewhere = [none[i], one.own - two.own, one.others, two.others];
    return sum([...weights[i], ...elsewhere].map(Math.abs)) / 2;
  });
  return { weights, none, variation };
}

/**
 * The shared word whose effects differ most, as each column has it; preferably among the words `named` as the
 * reason for a verdict, if one's effects differ at least half as much as the most different word's. Null if there is none.
 * @template {{ key: string, moved: number | null, named?: boolean }} Word
 * @param {Word[][]} all words; equal words have the same `key`, and `moved` is the effect of removing them
 * @returns {Word[] | null}
 */
export function mostDifferent([first, ...others]) {
  const found = first.map((word) => [word, ...others.map((words) => words.find(({ key }) => key === word.key))]);
  const known = found.filter((same) => same.every((word) => (word?.moved ?? null) !== null));
  const spread = (same) => Math.max(...same.map(({ moved }) => moved)) - Math.min(...same.map(({ moved }) => moved));
  const sorted = known.sort((a, b) => spread(b) - spread(a));
  const reason = sorted.find((same) => same.some(({ named }) => named));
  return reason && 2 * spread(reason) >= spread(sorted[0]) ? reason : (sorted[0] ?? null);
}

/**
 * How much the verdict loses if a word is dropped: points of probability, or of the score; null if it cannot be.
 * @param {(number | null)[] | undefined} bar the effect, its spread, and the probability without the word, if known
 * @param {{ unit: string, probability: number }} effects
 */
export function movedBy(bar, { unit, probability }) {
  const [effect = null, , after = null] = bar ?? [];
  if (effect === null || unit === "score") return effect;
  return 100 * (probability - (after ?? probability * Math.exp(-effect)));
}

// The effect of dropping a word on a verdict: on the score of a single output, else on the probability, in points.
export function moveOf({ name, followed, effects }, { moved }) {
  const score = effects.unit === "score";
  const size = Math.abs(moved).toFixed(score ? 2 : Math.abs(moved) < 9.95 ? 1 : 0);
  const change = Number(size)
    ? `${moved < 0 ? "rises" : "falls"} by ${size}${score ? "" : " points"}`
    : "does not change";
  return `${name}’${name.endsWith("s") ? "" : "s"} “${followed}” ${change}`;
}

// The reason why no word can be named, with the largest effect of each column if their outputs differ.
export function incomparable(columns, units) {
  if (units < 2) return "They have no word in common whose effects could be compared.";
  const each = columns.map((column) => {
    const known = column.words.filter(({ moved }) => moved !== null);
    const [most] = known.sort((a, b) => Math.abs(b.moved) - Math.abs(a.moved));
    return most ? `without “${most.text}”, ${moveOf(column, most)}` : `no word of ${column.name} can be left out`;
  });
  return `Their outputs have different units, so that word effects cannot be compared. The largest of each: ${each.join("; ")}.`;
}

/**
 * The verdicts in a sentence, and whether they are the same.
 * @param {{ name: string, classes: import("./payloads").ClassShare[] }[]} all
 */
export function verdictsOf(all) {
  const best = all.map(({ name, classes }) => ({
    name,
    own: named(classes),
    apart: classes.some(({ apart }) => apart),
  }));
  const numbers = best.map(({ name, own }) => `${name} ${numberOf(own)}`);
  if (best.length < 2) return "";
  if (best.some(({ own, apart }) => apart || own.said || own.score))
    return `${capital(best[0].own.label)}: ${numbers.join(", ")}.`;
  if (new Set(best.map(({ own }) => own.label)).size === 1)
    return `${best.length === 2 ? "Both" : "All"} say ${best[0].own.label} (${numbers.join(", ")}).`;
  return `They disagree: ${best.map(({ name, own }) => `${name} says ${own.label} (${numberOf(own)})`).join(", ")}.`;
}
