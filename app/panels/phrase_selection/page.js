// The page Phrases: stores k and the selected phrase, and shows both in all its parts.

import { html } from "../../components/create.js";
import { drawNotices, headline, named } from "../../components/shares.js";
import { goldLabel } from "../../components/verdict.js";
import { VIEWS, View } from "../../components/view.js";
import { ScoreFigure } from "./figure.js";
import { KeptPanel } from "./kept.js";
import { LARGEST_K, POOLING_NAMES, Phrases, phraseName, phraseOf } from "./phrases.js";
import { VerdictPanel } from "./verdicts.js";

/** @extends {View<import("../../components/payloads").Drawn["phrases"] & { k: number, select: string | null }>} */
class PhraseView extends View {
  listen(on) {
    super.listen(on);
    on(this.root, "keydown", (event) => {
      if (event.key === "Escape" && this.pinned) this.pin(this.pinned);
    });
    // The phrase under the pointer or with keyboard focus, in words or as a bar.
    const phrase = (event) => event.target.closest("[data-phrase]");
    const hover = (event) => this.hover(phraseOf(phrase(event)?.dataset.phrase));
    on(this.root, "pointerover", hover);
    on(this.root, "focusin", (event) => event.target.matches(":focus-visible") && hover(event));
    for (const name of ["pointerleave", "focusout"]) on(this.root, name, () => this.hover(null));
    on(this.root, "click", (event) => phrase(event) && this.pin(phraseOf(phrase(event).dataset.phrase)));
  }

  get focus() {
    return this.hovered || this.pinned;
  }

  get partner() {
    const { focus } = this;
    return focus && { side: 1 - focus.side, index: this.phrases.phrase(focus.side, focus.index).partner };
  }

  take({ k, select }) {
    this.k = k;
    this.pinned = phraseOf(select);
  }

  build() {
    const { data } = this;
    this.phrases = new Phrases(data);
    this.scale = this.scores();
    this.hovered = null;
    this.width = null;
    this.columns = new KeptPanel(this);
    this.verdicts = new VerdictPanel(this);
    this.figure = new ScoreFigure(this);
    this.said = html("div.said", { "data-part": "verdict" });
    this.said_by = html("div.note.soft");
    const said = html(
      "div",
      this.said,
      html("div.note.soft.model", html("bdi", data.explanation.title), data.gold ? " · " : null, goldLabel(data.gold)),
      this.said_by,
    );
    return html(
      "div.phrase_selection",
      html("div.top.halves", said, this.choiceOfK()),
      drawNotices(data.notices),
      this.columns.element,
      this.verdicts.element,
      this.figure.element,
    );
  }

  // Both charts share an axis: from 0, or from a higher start if no score is low.
  scores() {
    const lowest = Math.min(
      ...this.phrases.sides.map((side) => side.phrases.reduce((low, { score }) => Math.min(low, score), 1)),
    );
    const start =
      lowest < 0.3
        ? Math.min(0, Math.max(-1, Math.floor(10 * lowest) / 10))
        : Math.min(0.9, Math.floor(10 * (lowest - 0.04)) / 10);
    const step = start >= 0.5 ? 0.1 : start >= 0 ? 0.2 : 0.5;
    const ticks = [];
    for (let tick = 1; tick > start + 0.6 * step; tick -= step) ticks.push(tick);
    ticks.push(start);
    return { start, ticks };
  }

  // A slider for the number of phrases that each pooling keeps of a sentence.
  choiceOfK() {
    const { trained } = this.phrases;
    this.input = html("input", {
      type: "range",
      min: 1,
      max: LARGEST_K,
      "aria-label": "k, the number of phrases that each pooling keeps of a sentence",
      oninput: () => this.setK(Number(this.input.value), 300),
      onchange: () => this.setK(Number(this.input.value)),
    });
    this.value = html("output");
    const marks = Array.from({ length: LARGEST_K }, (_, i) =>
      html(
        "span",
        {
          class: trained.pooling !== "full" && i + 1 === trained.k && "trained",
          style: `--place:${i / (LARGEST_K - 1)}`,
        },
        i + 1,
      ),
    );
    return html("div.slider", this.value, this.input, html("div.ticks.tiny", { "aria-hidden": "true" }, marks));
  }

  setK(k, wait = 0) {
    if (k !== this.k) {
      this.k = k;
      this.drawKept();
    }
    this.send(this.picked(), wait);
  }

  pin(target) {
    const again = this.pinned && target && phraseName(this.pinned) === phraseName(target);
    this.pinned = again ? null : target;
    if (again) this.hovered = null;
    this.drawFocus({ reveal: true });
    this.send(this.picked());
  }

  hover(target) {
    const before = this.focus && phraseName(this.focus);
    this.hovered = target;
    if (before !== (this.focus && phraseName(this.focus))) this.drawFocus({ reveal: Boolean(target) });
  }

  draw() {
    this.drawKept();
    this.drawFocus({ reveal: Boolean(this.pinned) });
  }

  // The verdict at the slider's k, under the pooling used in training.
  get verdict() {
    const { trained } = this.phrases;
    const choice = this.phrases.choice(trained.pooling, trained.pooling === "full" ? 0 : this.k);
    return named(choice ? this.phrases.classes(choice.probabilities) : this.data.classes);
  }

  drawVerdict() {
    const { pooling, k } = this.phrases.trained;
    const best = this.verdict;
    const asked =
      pooling !== "full" && this.k !== k
        ? `what if k = ${this.k}: trained with ${POOLING_NAMES[pooling]}, k = ${k}`
        : null;
    this.said.textContent = headline(best);
    this.said_by.textContent =
      asked || `the model’s verdict: ${pooling === "full" ? "full pooling" : `${POOLING_NAMES[pooling]}, k = ${k}`}`;
    this.said_by.classList.toggle("other", Boolean(asked));
  }

  drawKept() {
    this.drawVerdict();
    this.input.value = String(this.k);
    this.value.textContent = this.input.ariaValueText = `k = ${this.k}`;
    this.columns.drawKept();
    this.verdicts.draw();
    this.figure.drawKept();
  }

  drawFocus({ reveal }) {
    this.columns.drawFocus();
    this.figure.drawFocus();
    if (!reveal || !this.width) return;
    // The chart under the pointer does not move.
    for (const at of [this.focus, this.partner]) {
      if (at && !(this.hovered && at.side === this.hovered.side)) this.figure.charts[at.side].reveal(at.index);
    }
  }

  picked() {
    const own = Math.min(this.phrases.trained.k, LARGEST_K);
    return { k: this.k === own ? null : this.k, select: this.pinned ? phraseName(this.pinned) : null };
  }

  arrange(width) {
    if (this.width === width) return;
    this.width = width;
    this.columns.fit();
    this.figure.build(width);
    if (this.pinned) this.drawFocus({ reveal: true });
  }
}

VIEWS.phrases = (root) => new PhraseView(root);
