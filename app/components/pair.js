// One pair: its verdict, its sentences and one panel for each kind of record it has. A word that is selected in one
// part is selected in all: `row` and `column` are words of the sentences along the edges of the matrix.

class PairView extends View {
  take({ selection }) {
    this.selection = { row: selection.row ?? null, column: selection.column ?? null };
  }

  // The side with this role; of a sentence along both edges, the one along the rows.
  sideOf(role) {
    const sides = this.data.sides.filter((side) => side.role === role);
    return sides.find((side) => side.axis === "row") || sides[0];
  }

  // What a selected word of the rows, and one of the columns, is called.
  axes({ rows, columns }) {
    return rows === columns ? ["row", "column"] : [rows, columns].map((role) => this.sideOf(role).axis);
  }

  // What the first panel of this kind draws that `fits`.
  dataOf(kind, fits = () => true) {
    return this.data.panels.find((panel) => panel.kind === kind && fits(panel.data))?.data;
  }

  build() {
    const { data } = this;
    const drawn = data.panels.map(({ kind, place, data: own }) => ({ kind, place, panel: PANELS[kind](this, own) }));
    for (const { kind, panel } of drawn) panel.element.classList.add("panel", kind); // its folder's style holds inside of it
    const [main, beside, below] = ["main", "beside", "below"].map((place) => drawn.filter((one) => one.place === place).map(({ panel }) => panel.element));
    this.panels = drawn.map(({ panel }) => panel);
    const ribbons = this.panels.find((panel) => panel.ribbons)?.ribbons;
    const text = ribbons || !this.panels.some((panel) => panel.sentences) ? new TextPanel(this, ribbons) : null;
    if (text) this.panels.push(text);
    const nothing = html("p", { class: "empty" }, "This model tells nothing of how it came to its verdict, which stands above.");
    return [drawVerdict(data.verdict, data.notices), text?.element, beside.length ? html("div", { class: "side-by-side" }, html("div", {}, main), html("div", {}, beside)) : main,
      below, data.panels.length ? null : nothing].flat();
  }

  // The link of what is on screen now, even when the server has not yet put the selection into the address.
  link() {
    const { row, column } = this.selection;
    const select = (row === null ? "" : `x${row + 1}`) + (column === null ? "" : `y${column + 1}`);
    return select && (this.turn > 0 || this.data.explicit) ? { ...this.data.link, select } : this.data.link;
  }

  select(part, { soon } = {}) {
    this.selection = { row: part.row ?? null, column: part.column ?? null };
    this.draw();
    for (const panel of this.panels) panel.reveal?.();
    this.send(this.selection, soon ? 250 : 0);
  }

  draw() {
    for (const panel of this.panels) panel.draw();
  }

  arrange(width) {
    for (const panel of this.panels) panel.fit?.(width);
  }
}

VIEWS.pair = PairView;
