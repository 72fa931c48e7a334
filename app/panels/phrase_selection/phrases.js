// The data of the phrases, and their descriptions.

import { svg } from "../../components/create.js";
import { the } from "../../components/wording.js";
import { recordOf, sentenceOf, tokensOf, withChances } from "../../components/evidence.js";

export const LARGEST_K = 10; // largest precomputed k
export const POOLINGS = ["kmin", "kmax"];
export const POOLING_NAMES = { kmin: "k-min", kmax: "k-max", full: "full" };

export class Phrases {
  /** @param {Pick<import("../../components/payloads").Phrases, "explanation" | "classes">} data */
  constructor({ explanation, classes }) {
    this.own = classes;
    const { sides, choices, pooling, k } = recordOf(explanation, "phrase_selection");
    this.trained = { pooling, k };
    this.choices = choices;
    this.sides = sides.map(({ role, phrases }) => {
      const sentence = sentenceOf(explanation, role);
      const unknown = sentence.tokens.flatMap(({ unknown: is }, i) => (is ? [i] : []));
      const { truncated } = sentence;
      return { role, phrases, unknown, truncated, tokens: tokensOf(sentence), lines: sentence.line_starts };
    });
  }

  // The choice of a pooling at this k, with the classes' probabilities; full pooling has no k.
  choice(pooling, k = 0) {
    return this.choices.find((choice) => choice.pooling === pooling && choice.k === k);
  }

  // Its span, its score, and the index of its partner in the other sentence.
  phrase(side, index) {
    return this.sides[side].phrases[index];
  }

  text(side, index) {
    const [first, last] = this.phrase(side, index).span;
    return this.sides[side].tokens.slice(first, last).join(" ");
  }

  // The phrases that a pooling keeps of a sentence at this k: indices in text order.
  pooled(pooling, k, side) {
    return this.choice(pooling, k).kept[side];
  }

  // The poolings that keep this phrase.
  poolingsOf(k, side, index) {
    return POOLINGS.filter((pooling) => this.pooled(pooling, k, side).includes(index));
  }

  classes(probabilities) {
    return withChances(this.own, probabilities);
  }

  // “smiling nearby” of the premise: aᵢ = 0.620, best matched by “a smile” of the hypothesis; kept by k-min.
  describe(k, side, index) {
    const by = this.poolingsOf(k, side, index).map((pooling) => POOLING_NAMES[pooling]);
    const { score, partner } = this.phrase(side, index);
    const own = `${this.named(side, index)}: aᵢ = ${score.toFixed(3).replace("-", "\u2212")}`;
    const kept = by.length ? `kept by ${by.join(" and ")}` : `not kept at k = ${k}`;
    return `${own}, best matched by ${this.named(1 - side, partner)}; ${kept}.`;
  }

  // Isolated: the phrase may be written from right to left.
  named(side, index) {
    return `“\u2068${this.text(side, index)}\u2069” of ${the(this.sides[side].role)}`;
  }
}

export const phraseName = ({ side, index }) => `${"ab"[side]}${index + 1}`;

export function phraseOf(name) {
  const match = /^([ab])(\d+)$/.exec(name || "");
  return match ? { side: "ab".indexOf(match[1]), index: Number(match[2]) - 1 } : null;
}

// The symbol of a pooling, the same in every figure: k-min points down, k-max up.
export function poolingSign(pooling, attributes) {
  const path = pooling === "kmin" ? "M0,1H10L5,10Z" : "M5,0L10,9H0Z";
  return svg(
    "svg",
    { class: `sign ${pooling}`, viewBox: "0 0 10 10", width: 10, height: 10, "aria-hidden": "true", ...attributes },
    svg("path", { d: path }),
  );
}
