// The whole view: builds the panels from the data, holds the selection, and tells the server about it.

class PairView {
  constructor(root) {
    this.root = root;
    this.nearest = new Map();
    this.selection = { row: null, column: null };
    this.turn = 0;
    this.panels = [];
    this.watch = new ResizeObserver(() => this.fit());
    this.onResize = () => this.fit();
  }

  // Safe to call again: Streamlit may clean up after one call of the module and go on with a later one.
  start() {
    this.watch.observe(this.root);
    window.addEventListener("resize", this.onResize);
  }

  side(axis) {
    return this.data.sides.find((side) => side.axis === axis);
  }

  get judged() {
    return this.data.sides.find((side) => side.judged);
  }

  // New data from the server. The same pair again only brings nearest words, or a selection made elsewhere (Back).
  update(data, setStateValue) {
    this.setStateValue = setStateValue;
    const same = this.data && this.data.drawing === data.drawing;
    const samePair = this.data && this.data.id === data.id;
    if (!samePair) this.nearest.clear();
    for (const [row, found] of Object.entries(data.nearest || {})) this.nearest.set(Number(row), found);
    const stale = samePair && data.turn < this.turn;
    this.data = data;
    if (!stale) {
      this.selection = { row: data.selection.row ?? null, column: data.selection.column ?? null };
      this.turn = Math.max(this.turn, data.turn || 0);
    }
    if (same) this.draw();
    else this.rebuild();
  }

  rebuild() {
    const { data } = this;
    this.attention = data.attention ? new MatrixPanel(this) : null;
    this.context = data.attention ? new ContextPanel(this) : null;
    this.text = new TextPanel(this);
    this.filters = data.filters ? new FilterPanel(this) : null;
    this.windows = data.windows ? new WindowPanel(this) : null;
    this.panels = [this.text, this.attention, this.context, this.windows, this.filters].filter(Boolean);
    const middle = this.attention ? html("div", { class: "side-by-side" }, this.attention.element, this.context.element) : html("p", { class: "empty" }, data.instead);
    this.root.replaceChildren(...[drawVerdict(data.verdict, data.notices), this.text.element, middle, this.windows?.element, this.filters?.element, this.footer()].filter(Boolean));
    this.fitted = null;
    this.fit();
    this.draw();
  }

  footer() {
    return footerOf(this.data.footer, this.data.linkable ? () => this.link() : null);
  }

  // The link of what is on screen now, even when the server has not yet put the selection into the address.
  link() {
    const { row, column } = this.selection;
    const select = (row === null ? "" : `x${row + 1}`) + (column === null ? "" : `y${column + 1}`);
    return select && (this.turn > 0 || this.data.chosen) ? { ...this.data.link, select } : this.data.link;
  }

  select(part, options = {}) {
    this.selection = { row: part.row ?? null, column: part.column ?? null };
    this.turn += 1;
    this.draw();
    if (this.attention && options.reveal !== false) this.reveal();
    clearTimeout(this.pending);
    const { id } = this.data;
    const message = { id, ...this.selection, turn: this.turn };
    const send = () => this.setStateValue("selection", message);
    if (options.soon) this.pending = setTimeout(send, 250);
    else send();
  }

  reveal() {
    const { row, column } = this.selection;
    this.attention.reveal(row ?? Math.round(this.attention.frame.scrollTop / this.attention.cell) + 1, column ?? Math.round(this.attention.frame.scrollLeft / this.attention.cell) + 1);
  }

  draw() {
    for (const panel of this.panels) panel.draw();
  }

  // Give the matrix what is left of the first screen, and the ribbons their new ends.
  fit() {
    const width = this.root.clientWidth;
    if (!width || !this.data || !this.text) return;
    const key = `${width}x${window.innerHeight}`;
    if (this.fitted === key) return;
    this.fitted = key;
    this.text.drawRibbons();
    if (!this.attention) return;
    const narrow = width < 700;
    const frame = this.attention.frame;
    const scroller = frame.getRootNode().host?.closest('[data-testid="stMain"]');
    const offset = frame.getBoundingClientRect().top + (scroller ? scroller.scrollTop : window.scrollY);
    const left = window.innerHeight - offset - 44;
    const height = narrow ? Math.min(420, window.innerHeight * 0.6) : Math.max(250, left);
    this.attention.build(frame.clientWidth || width, height);
  }

  end() {
    this.watch.disconnect();
    window.removeEventListener("resize", this.onResize);
    clearTimeout(this.pending);
  }
}

export default mounted(PairView);
