// The whole view: builds the panels from the data, holds k and the selected phrase, and tells the server about them.

class PhraseView {
  constructor(root) {
    this.root = root;
    this.turn = 0;
    this.hovered = null;
    this.pinned = null;
    this.watch = new ResizeObserver(() => this.fit());
    this.onKey = (event) => { if (event.key === "Escape" && this.pinned) this.pin(this.pinned); };
  }

  // Safe to call again: Streamlit may clean up after one call of the module and go on with a later one.
  start() {
    this.watch.observe(this.root);
    this.root.addEventListener("keydown", this.onKey);
  }

  end() {
    this.watch.disconnect();
    this.root.removeEventListener("keydown", this.onKey);
    clearTimeout(this.pending);
  }

  get focus() {
    return this.hovered || this.pinned;
  }

  get partner() {
    const { focus } = this;
    return focus && { side: 1 - focus.side, index: this.phrases.partner(focus.side, focus.index) };
  }

  // New data from the server. The same pair again only brings a k or a selection made elsewhere (Back).
  update(data, setStateValue) {
    this.setStateValue = setStateValue;
    const same = this.data && this.data.drawing === data.drawing;
    const stale = this.data && this.data.id === data.id && data.turn < this.turn;
    this.data = data;
    if (!stale) {
      this.k = data.k;
      this.pinned = phraseOf(data.select);
      this.turn = Math.max(this.turn, data.turn || 0);
    }
    if (!same) this.rebuild();
    else if (!stale) this.draw();
  }

  rebuild() {
    const { data } = this;
    this.phrases = new Phrases(data);
    this.scale = this.scores();
    this.hovered = null;
    this.tip = html("div", { class: "tip", role: "tooltip", hidden: true });
    this.slider = new KSlider(this);
    this.kept = new KeptPanel(this);
    this.verdicts = new VerdictPanel(this);
    this.figure = new ScoreFigure(this);
    const best = mostProbable(data.classes);
    const { pooling, k } = data.trained;
    const said = html("div", { class: "verdict" }, html("div", { class: "said", "data-part": "verdict" }, `${capital(best.label)}, ${percent(best.p)}`),
      html("div", { class: "note" }, `the model’s verdict: ${pooling === "full" ? "full pooling" : `${POOLING_NAMES[pooling]}, k = ${k}`}`));
    const parts = [html("div", { class: "top" }, said, this.slider.element), drawNotices(data.notices), this.kept.element, this.verdicts.element, this.figure.element,
      footerOf(data.footer, data.link ? () => this.link() : null), this.tip];
    this.root.replaceChildren(...parts.filter(Boolean));
    this.fitted = null;
    this.draw();
    this.fit();
  }

  // Both charts share an axis: from 0, or nearer when no score is low.
  scores() {
    const lowest = Math.min(...this.data.sides.map((side) => side.phrases.reduce((low, phrase) => Math.min(low, phrase[3]), 1)));
    const start = lowest < 0.3 ? Math.min(0, Math.max(-1, Math.floor(10 * lowest) / 10)) : Math.min(0.9, Math.floor(10 * (lowest - 0.04)) / 10);
    const step = start >= 0.5 ? 0.1 : start >= 0 ? 0.2 : 0.5;
    const ticks = [];
    for (let tick = 1; tick > start + 0.6 * step; tick -= step) ticks.push(tick);
    ticks.push(start);
    return { start, ticks };
  }

  setK(k, options = {}) {
    if (k !== this.k) {
      this.k = k;
      this.drawKept();
    }
    this.send(options);
  }

  pin(target) {
    const again = this.pinned && target && phraseName(this.pinned) === phraseName(target);
    this.pinned = again ? null : target;
    if (again) this.hovered = null;
    this.drawFocus({ reveal: true });
    this.send();
  }

  hover(target, element) {
    const before = this.focus && phraseName(this.focus);
    this.hovered = target;
    this.point(target, element);
    if (before !== (this.focus && phraseName(this.focus))) this.drawFocus({ reveal: Boolean(target) });
  }

  // What stands beside the pointer or the focused bar.
  point(target, element) {
    this.tip.hidden = !target;
    if (!target) return;
    this.tip.replaceChildren(...tellPhrase(this.phrases, this.k, target));
    const at = element.getBoundingClientRect();
    const wide = this.tip.offsetWidth;
    this.tip.style.left = `${Math.max(8, Math.min(at.left, window.innerWidth - wide - 16))}px`;
    // Above the first chart, so that it does not hide the partner in the second.
    const tall = this.tip.offsetHeight;
    const above = at.bottom + tall + 8 > window.innerHeight || (element.classList.contains("hit") && target.side === 0 && at.top > tall + 8);
    this.tip.style.top = `${above ? at.top - tall - 4 : at.bottom + 6}px`;
  }

  draw() {
    this.drawKept();
    this.drawFocus({ reveal: Boolean(this.pinned) });
  }

  drawKept() {
    this.slider.draw();
    this.kept.drawKept();
    this.verdicts.draw();
    this.figure.drawKept();
  }

  drawFocus({ reveal }) {
    this.kept.drawFocus();
    this.figure.drawFocus();
    if (!reveal || !this.fitted) return;
    // The chart under the pointer stays where it is.
    for (const at of [this.focus, this.partner]) {
      if (at && !(this.hovered && at.side === this.hovered.side)) this.figure.charts[at.side].reveal(at.index);
    }
  }

  send(options = {}) {
    this.turn += 1;
    clearTimeout(this.pending);
    const message = { id: this.data.id, ...this.chosen(), turn: this.turn };
    const send = () => this.setStateValue("picked", message);
    if (options.soon) this.pending = setTimeout(send, 300);
    else send();
  }

  chosen() {
    const own = Math.min(this.data.trained.k, this.data.choices.kmin.length);
    return { k: this.k === own ? null : this.k, select: this.pinned ? phraseName(this.pinned) : null };
  }

  // The link of what is on screen now, even when the server has not yet put it into the address.
  link() {
    const { k, select } = this.chosen();
    return { ...this.data.link, ...(k === null ? {} : { k }), ...(select ? { select } : {}) };
  }

  fit() {
    const width = this.root.clientWidth;
    if (!width || !this.data || this.fitted === width) return;
    this.fitted = width;
    this.figure.build(width);
    if (this.pinned) this.drawFocus({ reveal: true });
  }
}

export default mounted(PhraseView);
