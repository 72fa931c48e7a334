// The weight of each word when its sentence is pooled into one vector: bars above the words, and their scale.

import { legend, scaleColour, scaleEnd } from "../../components/colours.js";
import { html } from "../../components/create.js";
import { percent, the } from "../../components/wording.js";
import { recordsOf } from "../../components/evidence.js";
import { PANELS } from "../../components/view.js";

class PooledPanel {
  /**
   * @param {import("../../components/pair.js").PairView} view
   * @param {ReturnType<typeof pooledSides>} record
   */
  constructor(view, record) {
    this.view = view;
    this.record = record;
    this.title = `How much each word weighs in the ${record.name}`;
    this.how = ` A taller, brighter bar above a word: the word weighs more in the ${record.name}.`;
    this.more = `${record.shares ? "The weights of a sentence add up to 1. " : ""}The scale of the bars of each sentence runs to its largest weight, and at least to twice the mean, so that nearly equal weights are not the brightest. `;
    const ends = record.sides.map(({ role, high }) => `${this.written(high)} of ${the(role)}`);
    this.key = legend("weight, each sentence’s scale", this.written(0), ends.join(", "));
    this.readout = html("span.readout", { "aria-live": "polite" });
    this.key.append(this.readout);
    this.element = html("section", { "aria-label": this.title }, this.key);
  }

  sideOf(role) {
    return this.record.sides.find((side) => side.role === role);
  }

  // In words; null for a sentence that is not pooled.
  said(role, index) {
    const side = this.sideOf(role);
    return side && `weight ${this.written(side.weights[index])}`;
  }

  barOf(role, index) {
    const { weights, high } = this.sideOf(role) ?? {};
    if (!weights) return null;
    const style = `height:${(100 * weights[index]) / high}%;background:${scaleColour(weights[index] / high)}`;
    return html("i.tall", html("i.weight", { style }));
  }

  written(weight) {
    return this.record.shares ? percent(weight) : String(Number(weight.toPrecision(3)));
  }

  draw() {
    const words = this.record.sides.flatMap(({ role, weights }) => {
      const { axis, tokens } = this.view.sideOf(role);
      const index = this.view.selection[axis];
      if (index === null) return [];
      return [", ", html("bdi.selected", tokens[index]), ` ${this.written(weights[index])} of ${the(role)}`];
    });
    this.readout.replaceChildren(...words.slice(1));
  }
}

/**
 * All sentences of a pair, each on its own scale. `shares`: whether their weights add up to 1.
 * @param {import("../../components/payloads").PooledAttention[]} records
 */
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
  read: (records) => recordsOf(records, "pooled_attention").slice(0, 1),
  make: (view) => new PooledPanel(view, pooledSides(recordsOf(view.data.explanation.evidence, "pooled_attention"))),
};
