// The selected word's side of the attention: what its context is mixed from, or who looks at it.

class ContextPanel {
  constructor(view) {
    this.view = view;
    this.element = html("section", { class: "context", "aria-live": "polite", "aria-label": "Attentive context" });
  }

  draw() {
    const { selection } = this.view;
    const parts = selection.row !== null ? this.ofRow(selection.row, selection.column) : selection.column !== null ? this.ofColumn(selection.column) : [html("p", { class: "empty" }, "Select a word to see its context.")];
    this.element.replaceChildren(...parts.filter(Boolean));
  }

  ofRow(row, column) {
    const { data } = this.view;
    const { attention } = data;
    const word = this.view.side("row").tokens[row];
    const saves = ["SVG", "PNG"].map((kind) => linkButton(kind, `Save the bars as ${kind}`, () => saveBars(this, kind)));
    this.shown = { title: `Attentive context of ${word}`, bars: this.ranked(attention.weights[row], "column") };
    return [
      heading([`Attentive context of `, html("bdi", { class: "selected", "data-part": "context-word" }, word)],
        `The mix of ${attention.columns} words that enters its convolution.`,
        `c = Σ weight × state of the ${attention.columns} word, then tanh(W₁[left; self; right] + W₂c + b) makes the filters’ values at this word.`, saves),
      this.bars(attention.weights[row], "column", column),
      this.nearest(row),
      this.won(row),
    ];
  }

  ofColumn(column) {
    const { attention } = this.view.data;
    const word = this.view.side("column").tokens[column];
    const looks = attention.weights.map((row) => row[column]);
    const saves = ["SVG", "PNG"].map((kind) => linkButton(kind, `Save the bars as ${kind}`, () => saveBars(this, kind)));
    this.shown = { title: `Who looks at ${word}`, bars: this.ranked(looks, "row") };
    return [
      heading(["Who looks at ", html("bdi", { class: "selected", "data-part": "context-word" }, word)],
        `The share of its weight that each ${attention.rows} word puts here.`,
        "These shares need not add up to 1: each belongs to another row of the matrix.", saves),
      this.bars(looks, "row", null),
    ];
  }

  ranked(weights, axis) {
    const tokens = this.view.side(axis).tokens;
    return weights.map((weight, index) => ({ weight, index, word: tokens[index] })).sort((a, b) => b.weight - a.weight || a.index - b.index).slice(0, 7);
  }

  bars(weights, axis, chosen) {
    const best = this.ranked(weights, axis);
    if (chosen !== null && chosen !== undefined && !best.some((bar) => bar.index === chosen)) {
      best[best.length - 1] = { weight: weights[chosen], index: chosen, word: this.view.side(axis).tokens[chosen] };
    }
    const rest = weights.length - best.length;
    const left = weights.reduce((a, b) => a + b, 0) - best.reduce((a, b) => a + b.weight, 0);
    const top = Math.max(...weights, 1e-9);
    return html("ol", { class: "bars" }, best.map(({ weight, index, word }) =>
      html("li", { class: index === chosen ? "on" : null, title: exactPercent(weight) },
        html("button", { type: "button", dir: "auto", "data-word": index, onclick: () => this.view.select(axis === "column" ? { row: this.view.selection.row, column: index } : { row: index, column: this.view.selection.column }) }, word),
        html("i", {}, html("span", { style: `width:${(100 * weight) / top}%` })), html("em", {}, percent(weight)))),
      rest > 0 && axis === "column" ? html("li", { class: "rest" }, `${plural(rest, "other word", "other words")} together ${percent(Math.max(0, left))}`) : null);
  }

  nearest(row) {
    const found = this.view.nearest.get(row);
    const words = found ? found.words.flatMap((word, i) => [i ? ", " : "", html("b", { title: `cosine ${found.similarity[i].toFixed(3)}` }, html("bdi", {}, word))]) : [html("span", { class: "wait" }, "looking them up …")];
    return html("p", { class: "nearest", "data-part": "nearest" }, "Nearest words to this mix: ", words);
  }

  won(row) {
    const { filters } = this.view.data;
    if (!filters) return null;
    const count = filters.sides[0].filters.filter((filter) => filter[1] === row).length;
    return html("p", { class: "nearest" }, `Centre of the winning n-gram in ${count} of ${filters.sides[0].filters.length} filters.`);
  }
}
