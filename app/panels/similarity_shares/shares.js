// How pairs of words add up to the similarity of two texts: for the output layer's states, and on request for the input
// words.

import { AnsweredPanel } from "../../components/answered.js";
import { html } from "../../components/create.js";
import { refill } from "../../components/elements.js";
import { signed, the } from "../../components/wording.js";
import { PANELS } from "../../components/view.js";
import { SCALE, SignedMatrix } from "../attention_map/signed.js";

const TITLE = "Shares of the similarity";
const INPUT = "Shares of the input words";
const sum = (values) => values.reduce((all, value) => all + value, 0);
const digits = (value) => value.toFixed(3).replace("-", "\u2212");

// The page's view with a row and a column of special tokens, which cannot be selected.
function withSpecial(view, special) {
  const sideOf = (role) => {
    const side = view.sideOf(role);
    return { ...side, tokens: [...side.tokens, special] };
  };
  const pick = (part) => view.pick(part);
  const select = (part, more) => view.select(part, more);
  return Object.create(
    view,
    Object.fromEntries(Object.entries({ sideOf, pick, select }).map(([k, value]) => [k, { value }])),
  );
}

class ShareMatrix extends SignedMatrix {
  /**
   * @param {import("../../components/pair.js").PairView} view
   * @param {import("../../components/payloads").SimilarityShares} record
   * @param {boolean} [exact] taken at the output layer, and not integrated
   */
  constructor(view, record, exact = false) {
    const high = Math.max(1e-9, ...record.shares.flat().map(Math.abs));
    super(withSpecial(view, record.special), {
      ...record,
      exact,
      weights: record.shares,
      values: record.shares,
      low: -high,
      high,
    });
    this.selection = html("p.how.soft", { "aria-live": "polite" });
    this.element.append(this.selection);
  }

  /** @returns {import("../attention_map/matrix.js").Labels} */
  get labels() {
    const { rows, columns, score, high, exact } = this.attention;
    const { total } = this.attention;
    return {
      title: exact ? TITLE : INPUT,
      how: exact
        ? `The cells, in hundredths, add up to ${digits(total)}; the similarity is ${digits(score)}. They are taken at the output layer, where each word’s state already reflects its context.`
        : this.completeness,
      more: exact
        ? `Each text’s vector is a weighted sum of its tokens’ states, special tokens included (with mean pooling, their mean), so the similarity is a sum over pairs of tokens: x·y / (n m |u| |v|), with n and m the numbers of tokens and |u| and |v| the lengths of the vectors. A cell is the sum over the tokens of two words; a row of cells adds up to what a word of ${the(rows)} contributes, a column to what a word of ${the(columns)} does. Special tokens can carry information from words. `
        : "The change of each text’s vector from a reference, in which padding replaces the words, is split among the words by the Jacobian, integrated along the way (Möller and others 2023, 2024). The shares add up to the similarity less the reference terms: s(a, b) \u2212 s(r, b) \u2212 s(a, r) + s(r, r). The residual is the error of the integration.",
      scale: ["share", signed(-high, 3), signed(high, 3), SCALE],
      what: "shares",
      file: exact ? "shares-of-similarity" : "integrated-jacobians",
    };
  }

  get completeness() {
    const { score, reference, passes, total, residual } = this.attention;
    return `The cells, in hundredths, add up to ${digits(total)}, the similarity ${digits(score)} less the reference terms ${digits(reference)}; residual ${signed(residual, 4)}, ${passes.toLocaleString("en")} passes.`;
  }

  short(value) {
    return signed(100 * value, 1);
  }

  part(at) {
    const ends = [this.rows.length - 1, this.columns.length - 1];
    const own = super.part(at);
    for (const k of [0, 1]) if (at[k] === ends[k]) own[this.axes[k]] = null;
    return own;
  }

  facts(i, j) {
    return [html("span", `share ${signed(this.attention.shares[i][j], 4)}`)];
  }

  describe(i, j) {
    return `${this.rows[i]} and ${this.columns[j]}: share ${signed(this.attention.shares[i][j], 4)}`;
  }

  draw() {
    super.draw();
    refill(this.selection, this.said);
  }

  // A description of the selection: a word's share, or a cell's and the similarity without it.
  get said() {
    const { shares, score, exact } = this.attention;
    const [row, column] = this.selected;
    if (row !== null && column !== null) {
      const without = `; without it, at the same lengths and token counts, ${digits(score - shares[row][column])}`;
      return `“${this.rows[row]}” and “${this.columns[column]}”: ${signed(shares[row][column])}${exact ? without : ""}`;
    }
    if (row !== null) return `“${this.rows[row]}” in all: ${signed(sum(shares[row]))}`;
    return column === null
      ? ""
      : `“${this.columns[column]}” in all: ${signed(sum(shares.map((line) => line[column])))}`;
  }

  // Below the first screen it is as tall as needed.
  fit(width) {
    this.build(width, Infinity);
  }
}

/** @extends {AnsweredPanel<"shares">} */
class JacobiansPanel extends AnsweredPanel {
  /** @type {ShareMatrix | null} */
  matrix = null;

  /**
   * @param {import("../../components/pair.js").PairView} view
   * @param {import("../../components/payloads").Why} why
   */
  constructor(view, { costs: { shares: cost } }) {
    super(view, INPUT, {
      kind: "shares",
      text: "Integrating the Jacobians …",
      noun: "integrated Jacobians",
      setting: "jacobians",
      offer: `Attribute the similarity to the input words by integrated Jacobians${cost ? ` (${cost})` : ""}.`,
    });
  }

  figures(value) {
    this.matrix = new ShareMatrix(this.view, value);
    return { figure: this.matrix.element };
  }

  draw() {
    const before = this.matrix;
    super.draw();
    if (this.matrix !== before) this.fit(this.element.clientWidth);
    this.matrix?.draw();
  }

  fit(width) {
    if (width) this.matrix?.fit(width);
  }
}

PANELS.similarity_shares = {
  place: "details",
  make: (view, record) => new ShareMatrix(view, record, true),
};

PANELS.jacobians = {
  place: "details",
  asks: (_, { costs }) => "shares" in costs,
  make: (view) => new JacobiansPanel(view, view.data.why),
};
