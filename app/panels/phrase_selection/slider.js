// The number of phrases that each pooling keeps of a sentence.

import { html } from "../../components/elements.js";
import { LARGEST_K } from "./phrases.js";

export class KSlider {
  constructor(view) {
    this.view = view;
    const { trained } = view.phrases;
    const last = LARGEST_K;
    this.input = html("input", {
      type: "range",
      min: 1,
      max: last,
      step: 1,
      "aria-label": "k, the number of phrases that each pooling keeps of a sentence",
      oninput: () => this.view.setK(Number(this.input.value), 300),
      onchange: () => this.view.setK(Number(this.input.value)),
    });
    this.value = html("output");
    this.note = html("span.note.soft");
    const marks = Array.from({ length: last }, (_, i) =>
      html(
        "span",
        {
          class: trained.pooling !== "full" && i + 1 === trained.k ? "trained" : null,
          style: `--place:${last > 1 ? i / (last - 1) : 0}`,
        },
        i + 1,
      ),
    );
    this.element = html(
      "div.slider",
      html("div.words.headline", this.value, this.note),
      html("div.track", this.input, html("div.ticks.tiny", { "aria-hidden": "true" }, marks)),
    );
  }

  draw() {
    const { k } = this.view;
    const { trained } = this.view.phrases;
    this.input.value = k;
    this.input.setAttribute("aria-valuetext", `k = ${k}`);
    this.value.textContent = `k = ${k}`;
    const full = trained.pooling === "full";
    this.note.textContent = full
      ? "trained with full pooling"
      : k === trained.k
        ? "as trained"
        : `trained with k = ${trained.k}`;
    this.note.classList.toggle("other", !full && k !== trained.k);
  }
}
