// What the matrix, the ribbons and the list of windows draw of records of attention.

import { heaviest, percent, the } from "../../components/elements.js";
import { NO_WORD, SPECIAL, crossingRows, isWordMap, recordOf } from "../../components/evidence.js";

const mean = (values) => values.reduce((sum, value) => sum + value, 0) / values.length;

// Where the attention of a transformer's words goes on average, in a sentence.
export function staysOf({ rows, columns, own, null: special }) {
  const [stays, apart] = [mean(own), mean(special)];
  const across = Math.max(0, 1 - stays - apart);
  return `On average a word of ${the(rows)} gives ${percent(stays)} to its own sentence, ${percent(apart)} to special tokens, and ${percent(across)} to ${the(columns)}.`;
}

/**
 * A map over words. `weights` are always those that the model used: of them, or of `scores`, the browser makes the values
 * that the cells show. `none` is the null word's column, in a model that has one. `crossed`: for each row the rows that
 * look across it, and `crossings` its q, in a model that counts them. `of`: whose attention it is, of an external model,
 * which has weights alone; `stays`: what a transformer's words give to other words than those of the columns.
 * @param {any} record
 * @param {string} show weight, column or score
 */
export function wordMap(record, show) {
  const { rows, columns, units, weights, scores, apart, name, null: none, own = [], crossings = null } = record;
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
    crossed: record.crossed_by ? weights.map((_, row) => crossingRows(record, row)) : null,
    none: none.length
      ? { word: own.length ? SPECIAL : NO_WORD, weights: none, scores: none.map(() => record.null_score ?? null) }
      : null,
    show: scored ? show : alone,
    of: scored ? "" : name,
    stays: own.length ? staysOf(record) : "",
  };
}

// For each window of the rows' text: its first word, that of the other text's most looked-at window (null where no window
// is like it), their cosine, and the share that it has in the mix.
export function windowLines({ scores, weights }) {
  return weights.map((row, i) => {
    const best = heaviest(row);
    return [i, row[best] > 0 ? best : null, scores[i][best], row[best]];
  });
}

// A matrix for each map over words, a list for each map over windows. A map over phrases is not drawn here.
export function mapsOf(records, explanation, { show = "weight" }) {
  const width = recordOf(explanation, "filter_provenance")?.width;
  const windows = width ? records.filter(({ units }) => units === "windows") : [];
  return [
    ...records.filter(isWordMap).map((record) => wordMap(record, show)),
    ...windows.map((record) => {
      const { rows, columns, units } = record;
      return { rows, columns, units, width, lines: windowLines(record) };
    }),
  ];
}
