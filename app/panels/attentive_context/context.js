// The selected word's side of the attention: what its context is mixed from, or who looks at it.

import { exactPercent, heading, html, moreButton, percent, plural, the } from "../../components/elements.js";
import { saveButtons } from "../../components/save.js";
import { PANELS } from "../../components/view.js";

const LEAST_BAR = 0.001; // a smaller weight has no line of its own
const MOST_BARS = 7;

class ContextPanel {
  constructor(view, record) {
    Object.assign(this, { view, record, axes: view.axes(record), looked: new Map(), open: false });
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
    const parts =
      row !== null
        ? this.ofRow(row, column)
        : column !== null
          ? this.ofColumn(column)
          : [html("p.empty", "Select a word to see its context.")];
    this.element.replaceChildren(...parts.filter(Boolean));
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
    const { selection } = this.view;
    const other = this.axes[1 - edge];
    const name = ({ index, word }) =>
      index === null
        ? html("span.none", word)
        : html(
            "button",
            {
              dir: "auto",
              "data-word": index,
              onclick: () => this.view.pick({ [this.axes[edge]]: index, [other]: selection[other] }),
            },
            word,
          );
    return html(
      "div.scaled",
      html(
        "ol.bars",
        best.map((bar) =>
          html(
            "li",
            {
              class: bar.index === null ? "of-nothing" : bar.index === selected ? "on" : null,
              title: exactPercent(bar.weight),
            },
            name(bar),
            html("i", html("span", { style: `width:${100 * bar.weight}%` })),
            html("em", percent(bar.weight)),
          ),
        ),
        html(
          "li.axis",
          { "aria-hidden": "true" },
          html("span"),
          html("i", html("span", "0"), html("span", "100\u00a0%")),
          html("span"),
        ),
        rest > 0
          ? html(
              "li.rest",
              edge
                ? `${plural(rest, "other word", "other words")} together ${percent(Math.max(0, left))}`
                : `${plural(rest, "other word", "other words")} each under ${percent(ranked.filter((bar) => !best.includes(bar))[0].weight + 5e-4)}`,
            )
          : null,
        worth.length > MOST_BARS ? html("li.rest", moreButton(this, worth.length, MOST_BARS, "words")) : null,
      ),
    );
  }

  nearest(row) {
    if (!this.late) return null;
    const nearest = this.looked.get(row);
    if (nearest && !nearest.words.length)
      return html(
        "p.nearest",
        { "data-part": "nearest" },
        "Mostly ",
        html("b", html("bdi", this.record.unknown[row])),
        `, ${this.record.why}`,
      );
    const words = nearest
      ? nearest.words.flatMap((word, i) => [
          i ? ", " : "",
          html("b", { title: `cosine ${nearest.similarity[i].toFixed(3)}` }, html("bdi", word)),
        ])
      : [html("span.wait", "looking them up …")];
    return html(
      "p.nearest",
      { "data-part": "nearest" },
      this.map?.apart ? "Nearest words to these mixes together: " : "Nearest words to this mix: ",
      words,
    );
  }

  won(row) {
    const filters = this.view
      .dataOf("filter_provenance")
      ?.sides.find((side) => side.role === this.record.rows)?.filters;
    return filters
      ? html(
          "p.nearest",
          `This word is at the centre of the winning n-gram in ${filters.filter((filter) => filter[1] === row).length} of ${filters.length} filters.`,
        )
      : null;
  }
}

PANELS.attentive_context = (view, record) => new ContextPanel(view, record);
