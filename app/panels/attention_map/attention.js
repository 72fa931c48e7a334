// Explore's attention matrix: square cells, words along both edges, and explanatory texts.

import { html } from "../../components/create.js";
import { capital, exactPercent, percent, signed, the } from "../../components/wording.js";
import { PANELS } from "../../components/view.js";
import { withValues } from "./cells.js";
import { MatrixPanel } from "./matrix.js";
import { drawnMaps, windowsOf, wordMap } from "./records.js";
import { WindowPanel } from "./windows.js";

/** @typedef {import("../../components/pair.js").PairView} PairView */

export class AttentionMatrix extends MatrixPanel {
  /**
   * @param {import("./matrix.js").MatrixView} view
   * @param {import("./records.js").WordMap} attention
   */
  constructor(view, attention) {
    super(view, withValues(attention));
  }

  get ofCosines() {
    return this.attention.units === "similarity"; // of states: no attention
  }

  get labels() {
    const { rows, columns, apart, show, of, stays } = this.attention;
    const how = {
      weight: this.ofCosines
        ? "Brighter cell: the two words’ states are more similar (cosine). The model reads each text separately: this is not attention. Click a cell or a word to follow it."
        : `${of ? `${capital(of)}. ` : ""}Brighter cell: more weight. ${this.sums}. Click a cell or a word to follow it.`,
      score: "Brighter cell: higher score, before the softmax of the row. Click a cell or a word to follow it.",
      column:
        "Not what the model used: its weights, rescaled so that each column adds up to 1. Brighter cell: larger share of that column.",
    };
    const { judged } = this.view.sideOf(rows);
    const more = [
      this.final === null
        ? `Rows are ${the(rows)}${judged ? ", the judged sentence" : ""}`
        : `The row is the state after the last word of ${the(rows)}, the only one that looks back`,
      `; columns ${the(columns)}${judged ? ", its context" : ""}. `,
      this.several &&
        `Numbered blocks of columns are its lines${apart ? ": the model reads each of them separately" : ""}. `,
      `The colour scale is this pair’s own: it runs to the largest ${of ? "weight on a word" : "value"}${show === "score" || this.ofCosines ? "" : ", and at least to twice the mean, so that nearly equal weights are not the brightest"}. `,
      stays &&
        `The weights that a word’s pieces receive are added up; the weights that they give are averaged. The last column is the weight on pieces that belong to no word, such as [CLS] and [SEP]${this.attention.none ? ": often most of it" : ""}. `,
      this.none &&
        !of &&
        `The last column is the null word, a vector that the model learned for words without a counterpart in ${the(columns)}; with it a row adds up to 1. `,
      "Point at a cell for its exact values; with the keyboard, Tab to the matrix, move with the arrow keys, Home and End.",
    ];
    more.push(stays);
    const changed = this.view.data.verdict?.what_if; // the difference from the trained model
    const title = this.title();
    return {
      title,
      headed: changed ? `${title} (what if)` : title,
      how: how[show],
      more: more.filter(Boolean).join(""),
      scale: this.scale,
      what: "matrix",
      buttons: this.view.turns?.(rows),
      file: `attention-of-${rows}${show === "weight" ? "" : `-${show}`}`,
    };
  }

  // The sum of a row: after a manual change, the rest of it may have been kept.
  get sums() {
    const { weights, apart, stays } = this.attention;
    if (stays) return "A row, with what stays in its own sentence, adds up to 1";
    const each = apart ? " over each numbered line" : "";
    const whole = apart ? this.lines.length : 1;
    const sum = (row, i) => row.reduce((all, weight) => all + weight, this.none?.weights[i] ?? 0);
    return weights.every((row, i) => Math.abs(sum(row, i) - whole) < 0.01)
      ? `A row adds up to 1${each}`
      : `An unchanged row adds up to 1${each}`;
  }

  /** @returns {import("./matrix.js").Scale} */
  get scale() {
    const { show, low, high } = this.attention;
    if (show === "score") return ["score", signed(low, 2), signed(high, 2)];
    if (this.ofCosines) return ["cosine", low.toFixed(2), high.toFixed(2)];
    return [`${show === "column" ? "share of the column" : "weight"}, this pair’s scale`, "0\u00a0%", percent(high)];
  }

  // Weights that are being tried out.
  follows({ rows, columns, weights }) {
    const { show, ...own } = this.attention;
    if (show !== "weight" || own.rows !== rows || own.columns !== columns) return;
    weights.forEach((row, i) => row.forEach((weight, j) => this.rect(i, j)?.setAttribute("fill", this.colour(weight))));
  }

  // The map that the text draws as ribbons.
  get ribbons() {
    return { ...this.attention, axes: this.axes, final: this.final };
  }

  get direction() {
    return this.attention.rows;
  }

  title() {
    const { show, rows, columns } = this.attention;
    if (this.ofCosines) return `How similar the words of ${the(rows)} and of ${the(columns)} are`;
    if (this.final !== null)
      return show === "score" ? `Raw scores of ${the(rows)}’s final state` : `Where ${the(rows)}’s final state looks`;
    if (show === "column")
      return `Where the weight on each word of ${the(columns)} comes from (columns rescaled: not what the model used)`;
    return show === "score" ? `Raw scores of each word of ${the(rows)}` : `Where each word of ${the(rows)} looks`;
  }

  describe(i, j) {
    const { show } = this.attention;
    const cell = `${this.rows[i]} to ${this.word(j)}: `;
    if (show === "score") return cell + this.score(i, j, 3);
    if (this.ofCosines) return `${cell}cosine ${this.number("weights", i, j).toFixed(3)}`;
    if (show !== "column") return super.describe(i, j);
    return `${cell}${percent(this.number("values", i, j))} of the column, not what the model used`;
  }

  // The null word's score follows from the model's own weights, if these are above 0.
  score(i, j, digits) {
    const score = this.number("scores", i, j);
    return score === null ? "score not known" : `score ${signed(score, digits)}`;
  }

  facts(i, j) {
    if (this.ofCosines) return [html("span", `cosine ${this.number("weights", i, j).toFixed(4)}`)];
    const lines = super.facts(i, j);
    if (this.attention.scores.length) lines.push(html("span", this.score(i, j, 4)));
    if (this.attention.show === "column")
      lines.push(html("span", `${exactPercent(this.number("values", i, j))} of its column (not used)`));
    const back = this.view.back(this.attention);
    if (back && j < this.columns.length)
      lines.push(
        html("b", html("bdi", this.word(j)), " → ", html("bdi", this.rows[i])),
        html("span", `weight ${exactPercent(back.weights[j][i])}`),
      );
    return lines;
  }
}

PANELS.attention_map = {
  place: "main",
  read: drawnMaps,
  /** @param {PairView} view @param {import("../../components/payloads").AttentionMap} record */
  make: (view, record) =>
    record.units === "windows"
      ? new WindowPanel(view, windowsOf(record, view.data.explanation))
      : new (view.Matrix ?? AttentionMatrix)(view, wordMap(record, view.data.show)),
};
