// The selected word's side of the attention: what its context is mixed from, or who looks at it.

import { exactPercent, heading, html, moreButton, percent, plural, refill, the } from "../../components/elements.js";
import { saveButtons } from "../../components/save.js";
import { PANELS } from "../../components/view.js";

const LEAST_BAR = 0.001; // a smaller weight has no line of its own
const MOST_BARS = 7;

class ContextPanel {
  /**
   * @param {any} view
   * @param {import("../../components/payloads").Contexts} record
   */
  constructor(view, record) {
    this.view = view;
    this.record = record;
    this.axes = view.axes(record);
    this.looked = new Map();
    this.open = false;
    this.element = html("section.context", { "aria-live": "polite", "aria-label": "Attentive context" });
  }

  get direction() {
    return this.record.rows;
  }

  draw() {
    // The nearest words of the selected word are sent after the drawing.
    this.late = this.view.data.late.attentive_context?.[this.record.rows] || this.late;
    for (const [row, nearest] of Object.entries(this.late || {})) this.looked.set(Number(row), nearest);
    const [row, column] = this.axes.map((axis) => this.view.selection[axis]);
    if (row !== null) refill(this.element, this.ofRow(row, column));
    else if (column !== null) refill(this.element, this.ofColumn(column));
    else refill(this.element, html("p.empty", "Select a word to see its context."));
  }

  ofRow(row, column) {
    const { rows, columns, weights } = this.record;
    return [
      this.heading(
        "Attentive context of ",
        rows,
        row,
        this.map?.apart
          ? `One mix of words for each line of ${the(columns)}: over each line the weights add up to 100\u00a0%.`
          : `The mix of ${columns} words that the model reads together with it.`,
        `c = Σ weight × state of the ${columns} word${this.none ? " + weight on no word × the null word’s vector" : ""}; the model reads it beside the word, a convolution also beside the word’s neighbours.`,
      ),
      this.bars(weights[row], 1, column, this.none?.weights[row]),
      this.nearest(row),
      this.won(row),
    ];
  }

  ofColumn(column) {
    const { rows, columns, weights } = this.record;
    return [
      this.heading(
        "Who looks at ",
        columns,
        column,
        `The share of its weight that each ${rows} word puts here.`,
        "These shares need not add up to 1: each belongs to another row of the matrix.",
      ),
      this.bars(
        weights.map((row) => row[column]),
        0,
        null,
      ),
    ];
  }

  heading(title, role, index, how, more) {
    const word = this.view.sideOf(role).tokens[index];
    const saves = saveButtons(this.view, "bars", () => ({
      file: `context-${role}-${index + 1}`,
      title: title + word,
      elements: [this.element.querySelector(".bars")],
    }));
    return heading([title, html("bdi.selected", { "data-part": "context-word" }, word)], how, more, saves);
  }

  ranked(weights, edge) {
    const { tokens } = this.view.sideOf(edge ? this.record.columns : this.record.rows);
    return weights
      .map((weight, index) => ({ weight, index, word: tokens[index] }))
      .sort((a, b) => b.weight - a.weight || a.index - b.index);
  }

  // The matrix of the same weights.
  get map() {
    const { rows, columns } = this.record;
    return this.view.dataOf("attention_map", (map) => map.rows === rows && map.columns === columns);
  }

  // Each word's weight on the null word, of a model that has one.
  get none() {
    return this.map?.none;
  }

  // The words of this edge (0: rows, 1: columns) with the largest weights, the selected one, and the null word, all on
  // one scale from 0 to 100 %; what weighs next to nothing is one line.
  bars(weights, edge, selected, nothing) {
    const ranked = this.ranked(weights, edge);
    const worth = ranked.filter(({ weight }) => weight >= LEAST_BAR);
    const best = this.open ? [...worth] : worth.slice(0, MOST_BARS);
    if (selected !== null && !best.some((bar) => bar.index === selected)) {
      if (best.length === MOST_BARS && !this.open) best.pop();
      best.push(ranked.find((bar) => bar.index === selected));
    }
    if (nothing !== undefined) best.push({ weight: nothing, index: null, word: this.none.word });
    const rest = weights.length - best.filter((bar) => bar.index !== null).length;
    const left = weights.reduce((a, b) => a + b, 0) - best.reduce((a, b) => a + (b.index === null ? 0 : b.weight), 0);
    const others = plural(rest, "other word", "other words");
    const line = ({ weight, index, word }) => {
      const [own, other] = [this.axes[edge], this.axes[1 - edge]];
      const pick = () => this.view.pick({ [own]: index, [other]: this.view.selection[other] });
      return html(
        "li",
        { class: index === null ? "of-nothing" : index === selected && "on", title: exactPercent(weight) },
        index === null
          ? html("span.none", word)
          : html("button", { dir: "auto", "data-word": index, onclick: pick }, word),
        html("i", html("span.share", { style: `width:${100 * weight}%` })),
        html("span.number", { class: index !== null && index === selected && "best" }, percent(weight)),
      );
    };
    const under = ({ weight }) =>
      rest > 1 ? `${others}, each below ${percent(Math.max(0.001, weight + 5e-4))}` : `${others}: ${percent(weight)}`;
    return html(
      "ol.bars.bar-lines.mid",
      best.map(line),
      html("li.axis.tiny", { "aria-hidden": "true" }, html("i", html("span", "0"), html("span", "100\u00a0%"))),
      rest > 0 &&
        html(
          "li.rest.soft",
          edge
            ? `${others}${rest > 1 ? " together" : ""}: ${percent(Math.max(0, left))}`
            : under(ranked.find((bar) => !best.includes(bar))),
        ),
      worth.length > MOST_BARS && html("li.rest.soft", moreButton(this, worth.length, MOST_BARS, "words")),
    );
  }

  nearest(row) {
    if (!this.late) return null;
    const nearest = this.looked.get(row);
    const line = (...words) => html("p.nearest.soft", { "data-part": "nearest" }, words);
    const title = this.map?.apart ? "Nearest words to these mixes together: " : "Nearest words to this mix: ";
    if (!nearest) return line(title, html("span.wait", "looking them up …"));
    if (!nearest.words.length)
      return line("Mostly ", html("b", html("bdi", this.record.unknown[row])), `, ${this.record.why}`);
    const words = nearest.words.map((word, i) => [
      i ? ", " : "",
      html("b", { title: `cosine ${nearest.similarity[i].toFixed(3)}` }, html("bdi", word)),
    ]);
    return line(title, words);
  }

  won(row) {
    const { sides = [] } = this.view.dataOf("filter_provenance") ?? {};
    const filters = sides.find((side) => side.role === this.record.rows)?.filters;
    if (!filters) return null;
    const count = filters.filter((filter) => filter[1] === row).length;
    const text = `This word is at the centre of the winning n-gram in ${count} of ${plural(filters.length, "filter", "filters")}.`;
    return html("p.nearest.soft", text);
  }
}

PANELS.attentive_context = (view, record) => new ContextPanel(view, record);
