// The weight of each word when its sentence is pooled into one vector: a bar above the word.

import { WordChips } from "../../components/chips.js";
import { legend, scaleColour, scaleEnd } from "../../components/colours.js";
import { LONG, capital, heading, html, percent, the } from "../../components/elements.js";
import { saveButtons } from "../../components/save.js";
import { PANELS } from "../../components/view.js";

class PooledPanel {
  /**
   * @param {any} view
   * @param {ReturnType<typeof pooledSides>} record
   */
  constructor(view, record) {
    this.view = view;
    this.record = record;
    this.sides = record.sides.map(({ role, weights, high }) => {
      const side = view.sideOf(role);
      const words = new WordChips(view, side, {
        describe: (index) => `${side.tokens[index]}: weight ${this.written(weights[index])}`,
        inside: (index) =>
          html(
            "i.tall",
            html("i.weight", {
              style: `height:${(100 * weights[index]) / high}%;background:${scaleColour(weights[index] / high)}`,
            }),
          ),
      });
      return { role, weights, words, name: html("span.role.soft", capital(role)) };
    });
    this.stage = html(
      "div.stage",
      this.sides.map(({ role, words, name }) => html("div.side.labelled", { "data-role": role }, name, words.element)),
    );
    const how = "A taller, brighter bar: the word weighs more when its sentence is pooled into one vector.";
    const more = `${record.shares ? "The weights of a sentence add up to 1. " : ""}The scale of each sentence runs to its largest weight, and at least to twice the mean, so that nearly equal weights are not the brightest. Point at a word for its weight; with the keyboard, Tab to a sentence and move with the arrow keys.`;
    const ends = [
      this.written(0),
      record.sides.map(({ role, high }) => `${this.written(high)} of ${the(role)}`).join(", "),
    ];
    const key = legend("weight, each sentence’s scale", ...ends);
    const saves = saveButtons(view, "pooling", () => ({
      file: "pooling",
      title: this.title,
      elements: [this.stage, key],
    }));
    this.readout = html("span.readout", { "aria-live": "polite" });
    key.append(this.readout);
    const long = this.sides.some(({ weights }) => weights.length > LONG);
    this.element = html(
      "section",
      { class: long ? "long" : null, "aria-label": this.title },
      heading(this.title, how, more, saves),
      html("div.scroll", { tabindex: "-1" }, this.stage),
      key,
    );
  }

  // Whether both sentences are drawn here and need no panel of their own.
  get sentences() {
    return this.sides.length === this.view.data.sides.length;
  }

  get title() {
    return `How much each word weighs in the ${this.record.name}`;
  }

  written(weight) {
    return this.record.shares ? percent(weight) : String(Number(weight.toPrecision(3)));
  }

  draw() {
    const readout = this.sides.map(({ role, weights, words }) => {
      words.draw();
      const index = this.view.selection[words.axis];
      return index === null
        ? null
        : [
            html("bdi.selected", this.view.sideOf(role).tokens[index]),
            ` ${this.written(weights[index])} of ${the(role)}`,
          ];
    });
    this.readout.replaceChildren(...readout.filter(Boolean).flatMap((words, i) => (i ? [", ", ...words] : words)));
  }
}

// All sentences of a pair, each on its own scale. `shares`: whether their weights add up to 1.
export function pooledSides(records) {
  const shares = records.every(({ weights }) => Math.abs(weights.reduce((a, b) => a + b, 0) - 1) < 1e-3);
  const sides = records.map(({ role, weights }) => ({
    role,
    weights,
    high: scaleEnd(weights, shares ? 1 : Infinity),
  }));
  return { name: records[0].name, sides, shares };
}

PANELS.pooled_attention = {
  place: "main",
  read: (records) => [pooledSides(records)],
  make: (view, data) => new PooledPanel(view, data),
};
