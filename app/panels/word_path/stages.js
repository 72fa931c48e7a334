// The numbers of a word's way to the verdict, line by line, without anything of the page.

import { percent } from "../../components/elements.js";

const MOST = 12; // words whose scores and weights are shown, those with the largest weights

// A number for a reader: two decimals, about 0 where they are all 0.
export function written(number) {
  const text = String(Number(number.toFixed(2)));
  return text === "0" && number ? "≈0" : text.replace("-", "\u2212");
}

// Of the filters that the word at this place wins, the one that pushes most towards the verdict.
function strongest(filters, place, verdict) {
  const push = ({ logit_shares }) =>
    logit_shares[verdict] - logit_shares.reduce((a, b) => a + b, 0) / logit_shares.length;
  return filters.filter(({ position }) => position === place).sort((a, b) => push(b) - push(a))[0];
}

/**
 * Lines of cells: each cell with its text, the word that it is about, and the places of the cells before that it is made of.
 * @param {{ map: any, filters: any }} data
 * @param {number} row place of the word
 * @param {string[][]} words of the sentence along the rows, and of that along the columns
 * @param {string[]} classes
 * @param {{ logits: number[], probabilities: number[] }} explanation
 */
export function stagesOf({ map, filters }, row, [own, others], classes, { logits, probabilities }) {
  const verdict = probabilities.indexOf(Math.max(...probabilities));
  const largest = others.map((_, j) => j).sort((a, b) => map.weights[row][b] - map.weights[row][a]);
  const shown = largest.slice(0, MOST).sort((a, b) => a - b);
  const over = (values, from) => shown.map((j, i) => ({ text: written(values[j]), word: others[j], from: from(i) }));
  const every = shown.map((_, i) => i);
  const lines = [
    { name: "the word", cells: [{ text: own[row], word: "", from: [] }] },
    { name: "scores", cells: over(map.scores[row], () => [0]) },
    { name: "softmax: weights", cells: over(map.weights[row], (i) => [i]) },
  ];
  const won = strongest(filters.filters, row, verdict);
  if (!won) {
    lines.at(-1).says = "No filter’s best window is centred on this word, so max-pooling drops what it found.";
    return lines;
  }
  const of_word = [...won.offsets, won.context, won.bias];
  const names = [...won.offsets.map((_, i) => partName(i, won.offsets.length)), "context", "bias"];
  const all = of_word.map((_, i) => i);
  return [
    ...lines,
    {
      name: `filter ${won.index}: parts`,
      cells: of_word.map((part, i) => ({
        text: written(part),
        word: names[i],
        from: names[i] === "context" ? every : [],
      })),
    },
    { name: "their sum", cells: [{ text: written(won.preactivation), word: "", from: all }] },
    {
      name: `${filters.activation}, the maximum`,
      cells: [{ text: written(won.activation), word: "", from: [0] }],
    },
    {
      name: "shares in logits",
      cells: classes.map((word, c) => ({ text: written(won.logit_shares[c]), word, from: [0] })),
    },
    {
      name: "logits",
      cells: classes.map((word, c) => ({ text: written(logits[c]), word, from: [c] })),
      says: `With the shares of the other ${filters.filters.length - 1} filters and the bias.`,
    },
    {
      name: "softmax: verdict",
      cells: classes.map((word, c) => ({ text: percent(probabilities[c]), word, from: [c] })),
    },
  ];
}

// The name of a place in a window of `width` words.
function partName(place, width) {
  const middle = (width - 1) / 2;
  if (place === middle) return "itself";
  return place < middle ? "left" : "right";
}
