// The data of the matrix, the ribbons and the list of windows, from records of attention.

import { heaviest } from "../../components/elements.js";
import { isWordMap, recordOf, recordsOf } from "../../components/evidence.js";

/**
 * A map over words. `weights` are always those that the model used: from them, or from `scores`, the browser computes
 * the cells' values. `none` is the null word's column, if the model has one. `crossed`: for each row the rows that
 * cross it, and `crossings` its q, in a model that counts crossings. `of`: the source of an external model's attention,
 * which has only weights; `stays`: the weight of a transformer's words outside the columns.
 * @typedef {import("../../components/payloads").AttentionMap} AttentionMap
 * @typedef {ReturnType<typeof wordMap>} WordMap
 * @param {AttentionMap} record
 * @param {string} show weight, column or score
 */
export function wordMap(record, show) {
  const { rows, columns, units, weights, scores, apart, name, null: none, crossings = null, stays } = record;
  const scored = scores.length > 0;
  const alone = show === "column" && units !== "similarity" ? "column" : "weight";
  return {
    rows,
    columns,
    units,
    weights,
    scores,
    apart,
    crossings,
    crossed: record.crossing ?? null,
    none: record.nothing
      ? { word: record.nothing, weights: none, scores: none.map(() => record.null_score ?? null) }
      : null,
    show: scored ? show : alone,
    of: scored ? "" : name,
    stays,
  };
}

// For each window of the rows' text: its first word, the first word of the other text's window with the most weight
// (null if no window is similar), their cosine, and that window's share of the mix.
export function windowLines({ scores, weights }) {
  return weights.map((row, i) => {
    const best = heaviest(row);
    return [i, row[best] > 0 ? best : null, scores[i][best], row[best]];
  });
}

/**
 * A map over windows as a list. `width`: the number of words in a window.
 * @param {AttentionMap} record
 * @param {import("../../components/evidence.js").Explanation} explanation
 */
export function windowsOf(record, explanation) {
  const { rows, columns, units } = record;
  return { rows, columns, units, width: widthOf(explanation), lines: windowLines(record) };
}

const widthOf = (explanation) => recordOf(explanation, "filter_provenance")?.width;

/**
 * One matrix per map over words, one list per map over windows. Maps over phrases are not drawn here.
 * @param {import("../../components/evidence.js").EvidenceRecord[]} records
 * @param {import("../../components/evidence.js").Explanation} explanation
 */
export function drawnMaps(records, explanation) {
  const windows = recordsOf(records, "attention_map").filter(({ units }) => units === "windows");
  return [...records.filter(isWordMap), ...(widthOf(explanation) ? windows : [])];
}
