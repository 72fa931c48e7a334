// The selected word's side of the attention: what its context is mixed from, or who looks at it.

class ContextPanel {
  constructor(view, record) {
    Object.assign(this, { view, record, axes: view.axes(record), looked: new Map() });
    this.element = html("section", { class: "context", "aria-live": "polite", "aria-label": "Attentive context" });
  }

  draw() {
    // The nearest words of the selected word are sent after the drawing.
    this.late = this.view.data.late.attentive_context?.[this.record.rows] || this.late;
    for (const [row, nearest] of Object.entries(this.late || {})) this.looked.set(Number(row), nearest);
    const [row, column] = this.axes.map((axis) => this.view.selection[axis]);
    const parts = row !== null ? this.ofRow(row, column) : column !== null ? this.ofColumn(column) : [html("p", { class: "empty" }, "Select a word to see its context.")];
    this.element.replaceChildren(...parts.filter(Boolean));
  }

  ofRow(row, column) {
    const { rows, columns, weights } = this.record;
    return [
      this.heading("Attentive context of ", rows, row, `The mix of ${columns} words that enters its convolution.`,
        `c = Σ weight × state of the ${columns} word, then tanh(W₁[left; self; right] + W₂c + b) makes the filters’ values at this word.`),
      this.bars(weights[row], 1, column),
      this.nearest(row),
      this.won(row),
    ];
  }

  ofColumn(column) {
    const { rows, columns, weights } = this.record;
    return [
      this.heading("Who looks at ", columns, column, `The share of its weight that each ${rows} word puts here.`,
        "These shares need not add up to 1: each belongs to another row of the matrix."),
      this.bars(weights.map((row) => row[column]), 0, null),
    ];
  }

  heading(title, role, index, how, more) {
    const word = this.view.sideOf(role).tokens[index];
    this.shown = { title: title + word };
    return heading([title, html("bdi", { class: "selected", "data-part": "context-word" }, word)], how, more, saveButtons(this.view, "bars", "context", (ink) => this.saved(ink)));
  }

  ranked(weights, edge) {
    const { tokens } = this.view.sideOf(edge ? this.record.columns : this.record.rows);
    return weights.map((weight, index) => ({ weight, index, word: tokens[index] })).sort((a, b) => b.weight - a.weight || a.index - b.index);
  }

  // The words of this edge (0: rows, 1: columns) with the largest weights, and the selected one.
  bars(weights, edge, selected) {
    const ranked = this.ranked(weights, edge);
    const best = ranked.slice(0, 7);
    this.shown.bars = [...best];
    if (selected !== null && !best.some((bar) => bar.index === selected)) best[best.length - 1] = ranked.find((bar) => bar.index === selected);
    const rest = weights.length - best.length;
    const left = weights.reduce((a, b) => a + b, 0) - best.reduce((a, b) => a + b.weight, 0);
    const top = Math.max(...weights, 1e-9);
    const { selection } = this.view;
    const other = this.axes[1 - edge];
    return html("ol", { class: "bars" }, best.map(({ weight, index, word }) =>
      html("li", { class: index === selected ? "on" : null, title: exactPercent(weight) },
        html("button", { type: "button", dir: "auto", "data-word": index, onclick: () => this.view.select({ [this.axes[edge]]: index, [other]: selection[other] }) }, word),
        html("i", {}, html("span", { style: `width:${(100 * weight) / top}%` })), html("em", {}, percent(weight)))),
      rest > 0 && edge ? html("li", { class: "rest" }, `${plural(rest, "other word", "other words")} together ${percent(Math.max(0, left))}`) : null);
  }

  nearest(row) {
    if (!this.late) return null;
    const nearest = this.looked.get(row);
    const words = nearest ? nearest.words.flatMap((word, i) => [i ? ", " : "", html("b", { title: `cosine ${nearest.similarity[i].toFixed(3)}` }, html("bdi", {}, word))]) : [html("span", { class: "wait" }, "looking them up …")];
    return html("p", { class: "nearest", "data-part": "nearest" }, "Nearest words to this mix: ", words);
  }

  won(row) {
    const filters = this.view.dataOf("filter_provenance")?.sides.find((side) => side.role === this.record.rows)?.filters;
    return filters ? html("p", { class: "nearest" }, `Centre of the winning n-gram in ${filters.filter((filter) => filter[1] === row).length} of ${filters.length} filters.`) : null;
  }

  saved(ink) {
    const { title, bars } = this.shown;
    const colour = inkOf(this.view, "context");
    const top = Math.max(...bars.map((bar) => bar.weight), 1e-9);
    const lines = bars.map((bar, i) => [label(130, 56 + i * 26, shorten(bar.word, 18), { fill: ink, "text-anchor": "end" }),
      svg("rect", { x: 140, y: 46 + i * 26, width: Math.max(1, (200 * bar.weight) / top), height: 11, rx: 3, fill: colour }),
      label(150 + (200 * bar.weight) / top, 56 + i * 26, percent(bar.weight), { fill: ink })]);
    return [420, 64 + bars.length * 26, [label(12, 24, title, { fill: ink, "font-weight": 600 }), lines.flat()]];
  }
}

PANELS.attentive_context = (view, record) => new ContextPanel(view, record);
