// The values in the cells of an attention matrix: the model's weights, their shares of each column, or its scores.

import { scaleEnd } from "../../components/colours.js";

function shares(column) {
  const sum = column.reduce((all, weight) => all + weight, 0);
  return column.map((weight) => (sum > 0 ? weight / sum : 0));
}

// A map with the `values` of its cells, and both ends of their scale. The scale of an external model's weights fits the
// words: special tokens often have most of the weight, next to which all words would be dark. A compared map already
// has the common `high`.
export function withValues(attention) {
  const { weights, scores, none, show, of, units } = attention;
  let [values, last] = show === "score" ? [scores, none?.scores] : [weights, none?.weights];
  if (show === "column") {
    const columns = weights[0].map((_, j) => shares(weights.map((row) => row[j])));
    values = weights.map((_, i) => columns.map((column) => column[i]));
    last = last && shares(last);
  }
  const known = [...values.flat(), ...((!of && last) || [])].filter((value) => value !== null);
  const end = (furthest) => known.reduce((one, other) => furthest(one, other));
  const signed = show === "score" || units === "similarity";
  const low = signed ? end(Math.min) : 0;
  return {
    ...attention,
    values,
    none: none && { ...none, values: last },
    low,
    high: attention.high ?? (signed ? Math.max(end(Math.max), low + 1e-9) : scaleEnd(known, 1)),
  };
}
