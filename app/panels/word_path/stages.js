// The numbers on a word's path to the verdict, row by row, independent of the page.

import { percent, the } from "../../components/wording.js";

const MOST = 12; // words whose scores and weights are shown, largest weights first
// The comparisons of a word before the convolution, in a model that makes them, and whether they involve the context.
const COMPARED = [
  ["word", false],
  ["context", true],
  ["word × context", true],
  ["difference", true],
  ["words across", false],
  ["bias", false],
];

// A number in readable form: two decimals, "≈0" if these are all 0.
export function written(number) {
  const text = String(Number(number.toFixed(2)));
  return text === "0" && number ? "≈0" : text.replace("-", "\u2212");
}

// Among the filters won by the word at this position, the one that pushes most towards the verdict.
function strongest(filters, place, verdict) {
  const push = ({ logit_shares }) =>
    logit_shares[verdict] - logit_shares.reduce((a, b) => a + b, 0) / logit_shares.length;
  return filters.filter(({ position }) => position === place).sort((a, b) => push(b) - push(a))[0];
}

/**
 * Lines of cells: each cell with its text, its word, and the indices of its source cells in the previous line.
 * @typedef {import("../../components/payloads").FilterProvenance} FilterProvenance
 * @param {{ map: import("../../components/payloads").AttentionMap, filters: FilterProvenance, opposite?: FilterProvenance }} data
 *   `opposite`: the filters over the other sentence
 * @param {number} row index of the word
 * @param {string[][]} words of the sentence along the rows, and of that along the columns
 * @param {string[]} classes
 * @param {{ logits: number[], probabilities: number[] }} explanation
 */
export function stagesOf({ map, filters, opposite }, row, [own, others], classes, { logits, probabilities }) {
  const verdict = probabilities.indexOf(Math.max(...probabilities));
  const largest = others.map((_, j) => j).sort((a, b) => map.weights[row][b] - map.weights[row][a]);
  const shown = largest.slice(0, MOST).sort((a, b) => a - b);
  const cells = (values, from) => values.map(([value, word], i) => ({ text: written(value), word, from: from(i) }));
  const over = (values, none) => [
    ...shown.map((j) => [values[j], others[j]]),
    ...(map.nothing ? [[none, map.nothing]] : []),
  ];
  const lines = [
    { name: "the word", cells: [{ text: own[row], word: "", from: [] }] },
    { name: "scores", cells: cells(over(map.scores[row], map.null_score), () => [0]) },
    { name: "softmax: weights", cells: cells(over(map.weights[row], map.null?.[row]), (i) => [i]) },
  ];
  const every = [...lines[1].cells.keys()];
  const won = strongest(filters.filters, row, verdict);
  if (!won) {
    lines.at(-1).says = "No filter’s best window is centred on this word, so max-pooling drops what it found.";
    return lines;
  }
  const terms = filters.compared?.[filters.filters.indexOf(won)];
  if (terms) {
    const from = (i) => (COMPARED[i][1] ? every : []);
    const parts = terms.map((term, i) => [term, COMPARED[i][0]]);
    lines.push({ name: "the word compared", cells: cells(parts, from), says: `As filter ${won.index} adds it up.` });
  }
  const parts = [
    ...won.offsets.map((part, i) => [part, partName(i, won.offsets.length)]),
    ...(terms ? [] : [[won.context, "context"]]),
    [won.bias, "bias"],
  ];
  const before = terms ? "itself" : "context"; // the part computed from the previous line
  const share = won.logit_shares[verdict];
  const sum = (of) => of.reduce((all, { logit_shares }) => all + logit_shares[verdict], 0);
  const shares = [
    [share, "this filter"],
    [sum(filters.filters) - share, `the other ${filters.filters.length - 1}`],
    ...(opposite ? [[sum(opposite.filters), `of ${the(opposite.rows)}`]] : []),
    [filters.logit_bias[verdict], "bias"],
  ];
  const all = [...shares.keys()];
  return [
    ...lines,
    {
      name: `filter ${won.index}: parts`,
      cells: cells(parts, (i) => (parts[i][1] === before ? [...lines.at(-1).cells.keys()] : [])),
    },
    { name: "their sum", cells: cells([[won.preactivation, ""]], () => [...parts.keys()]) },
    { name: `${filters.activation}, the maximum`, cells: cells([[won.activation, ""]], () => [0]) },
    {
      name: `for ${classes[verdict]}`,
      cells: cells(shares, (i) => (i ? [] : [0])),
      says: "Shares of filters, and the bias, in the verdict’s logit.",
    },
    {
      name: "logits",
      cells: cells(
        classes.map((word, c) => [logits[c], word]),
        (c) => (c === verdict ? all : []),
      ),
    },
    {
      name: "softmax: verdict",
      cells: classes.map((word, c) => ({ text: percent(probabilities[c]), word, from: [c] })),
    },
  ];
}

// The name of a position in a window of `width` words.
function partName(place, width) {
  const middle = (width - 1) / 2;
  if (place === middle) return "itself";
  return place < middle ? "left" : "right";
}
