// Figure 5: the best alignment score of every phrase of both sentences, and the focused phrase in words.

import { html } from "../../components/create.js";
import { heading } from "../../components/elements.js";
import { saveButtons } from "../../components/save.js";
import { BarChart } from "./chart.js";

export class ScoreFigure {
  constructor(view) {
    this.view = view;
    this.charts = [0, 1].map((side) => new BarChart(view, side));
    this.readout = html("p.readout.mid");
    const { start } = view.scale;
    const from = start > 0 ? ` The axis starts at ${start.toFixed(1)}.` : "";
    const how = `A taller bar: the phrase has a better partner in the other sentence. Bars above a word are the phrases that end with it, shortest first.${from}`;
    const more =
      "The height is aᵢ, the largest cosine of the phrase with any phrase of the other sentence (equation 5 of Yin & Schütze 2017; this is its figure 5). Striped, with ▼ below: k-min keeps it; filled, with ▲: k-max keeps it. " +
      "Tab reaches a chart, the left and right arrow keys move along it, up and down go to the partner in the other sentence, Enter selects the phrase and Escape deselects it. The partner of a phrase may itself have another partner.";
    const saves = saveButtons(view, "bars", () => ({
      file: `phrase-bars-k${view.k}`,
      title: `Best alignment of every phrase, and what k-min and k-max keep at k = ${view.k}`,
      elements: this.charts.map((chart) => chart.element),
    }));
    this.element = html(
      "section.figure",
      { "aria-label": "Best alignment of every phrase" },
      heading("Best match of every phrase", how, more, saves),
      this.readout,
      this.charts.map((chart) => chart.element),
    );
  }

  build(width) {
    for (const chart of this.charts) chart.build(width);
  }

  drawKept() {
    for (const chart of this.charts) chart.drawKept();
    this.tell();
  }

  drawFocus() {
    for (const chart of this.charts) chart.drawFocus();
    this.tell();
  }

  // The focused phrase in words.
  tell() {
    const { focus, phrases, k } = this.view;
    this.readout.textContent = focus
      ? phrases.describe(k, focus.side, focus.index)
      : "Point at a bar or a phrase to see its partner; a click keeps it selected.";
    this.readout.classList.toggle("soft", !focus);
  }
}
