// The effect of each attention link: the map's matrix, with the effect of ablating a cell in the cell itself.

import { fill, html } from "../../components/create.js";
import { choice, linkButton, refill } from "../../components/elements.js";
import { exactPercent, plural, signed, the } from "../../components/wording.js";
import { PANELS } from "../../components/view.js";
import { aloneIn } from "../attention_map/matrix.js";
import { SCALE, SignedMatrix } from "../attention_map/signed.js";

const EVERY = "all";
const HEADS = "heads"; // whole heads; also the units of such a map
const ATTENDING = ["pooled_attention", "phrase_selection"];

// A map of link effects with its `values`, on a scale to `high` in both directions.
const linkMap = (links) => ({
  ...links,
  values: links.effects,
  high: Math.max(0, ...links.effects.flat().map((effect) => Math.abs(effect ?? 0))),
});

class LinkMatrix extends SignedMatrix {
  constructor(view, map, verdict, knockedOut) {
    const { words, null: none, values, before, high } = map;
    const columns = none ? words[1].slice(0, -1) : words[1];
    const parted = (rows) => (none ? rows.map((row) => row.slice(0, -1)) : rows);
    const last = (rows) => rows.map((row) => row.at(-1));
    const chosen = () => this.draw();
    const ofWords = ["words", "final state"].includes(map.units);
    super(ofWords ? view : aloneIn(view, [words[0], columns], map.rows, chosen), {
      ...map,
      verdict,
      knockedOut,
      weights: parted(before),
      values: parted(values),
      none: none && { word: words[1].at(-1), weights: last(before), values: last(values) },
      show: "weight",
      low: -high,
      high: high || 1,
    });
  }

  /** @returns {import("../attention_map/matrix.js").Labels} */
  get labels() {
    const { high } = this.attention;
    /** @type {import("../attention_map/matrix.js").Scale} */
    const scale = ["effect", signed(-high, 2), signed(high, 2), SCALE];
    return { ...(this.attention.units === HEADS ? this.labelsOfHeads : this.labelsOfLinks), scale };
  }

  get labelsOfLinks() {
    const { rows, columns, verdict, least, renormalised, tau_b, knockedOut } = this.attention;
    const apart = rows === columns ? "" : ` into ${the(columns)}`;
    const agreement =
      tau_b === null
        ? "Weight and effect are the same everywhere, so their order cannot be compared."
        : `Kendall’s τ-b between ${least === null ? "weight" : "score"} and size of the effect over ${this.cells}: ${signed(tau_b, 2)}.`;
    const rule = knockedOut
      ? `All pieces of one word stop attending to all pieces of the other, before the softmax of every layer and head, so that the rest of the row takes over the weight; the weights are the mean of all layers and heads, or of the head that the card names. A crossed cell was not cut: each costs a pass, so the largest weights come first. `
      : least === null
        ? `The cell becomes 0, and the rest of its row ${renormalised ? "is divided by its sum, so that the row adds up to 1 again" : "stays as it is, so that the row adds up to less than 1"}; a row whose whole weight was there keeps 0. `
        : `These are scores, from which the model selects or pools: the cell gets ${signed(least, 0)}, the lowest possible match score of this model. `;
    return {
      title: `What each link of ${the(rows)}${apart} does to “${verdict}”`,
      how: `${agreement} +: the verdict loses by the cut; \u2212: it gains.`,
      more: `${rule}An effect is log p of the verdict (of a model with one output, its score) before minus after this one cell is cut; all others stay. τ-b is 1 if the order is the same, 0 if it is unrelated, below 0 if it is reversed. What it cannot tell: two links that carry the same information hide each other, and a row that no longer adds up to 1 is one that the model never saw. `,
      what: "effects of links",
      file: `effects-of-links-of-${rows}${renormalised && !knockedOut ? "-renormalised" : ""}`,
    };
  }

  get labelsOfHeads() {
    const { verdict, tau_b } = this.attention;
    const agreement =
      tau_b === null
        ? ""
        : `Kendall’s τ-b between what a head looks across and size of the effect: ${signed(tau_b, 2)}. `;
    return {
      title: `What each head does to “${verdict}”`,
      how: `A row is a layer, a cell a head that is removed as a whole. ${agreement}+: the verdict loses by the cut; \u2212: it gains.`,
      more: "The head’s output to the next layer is 0; all other heads stay. An effect is log p of the verdict (of a model with one output, its score) before minus after. The weight is the share of its attention that a word gives to the other sentence in this head, on average over both sentences’ words. What it cannot tell: heads with the same function hide each other, and a layer without one of its heads is one that the model never saw.",
      what: "effects of heads",
      file: "effects-of-heads",
    };
  }

  // The number of cut links, in words.
  get cells() {
    const all = this.attention.before.flat().length;
    const cut = this.attention.values.flat().filter((value) => value !== null).length;
    return cut < all
      ? `the ${plural(cut, "cell", "cells")} that ${cut === 1 ? "was" : "were"} cut`
      : `all ${plural(all, "cell", "cells")}`;
  }

  was(i, j) {
    const before = this.number("weights", i, j);
    if (this.attention.units === HEADS) return `looks across with ${exactPercent(before)}`;
    return this.attention.least === null ? `weight ${exactPercent(before)}` : `score ${signed(before, 3)}`;
  }

  describe(i, j) {
    const between = this.attention.units === HEADS ? ", " : " to ";
    return `${this.rows[i]}${between}${this.word(j)}: ${this.facts(i, j)
      .map((fact) => fact.textContent)
      .join(", ")}`;
  }

  facts(i, j) {
    const effect = this.number("values", i, j);
    return [html("span", effect === null ? "not cut" : `effect ${signed(effect, 3)}`), html("span", this.was(i, j))];
  }
}

class LinksPanel {
  /**
   * @param {import("../../components/pair.js").PairView} view
   * @param {import("../../components/payloads").Why} why
   */
  constructor(view, { verdict, knockouts }) {
    this.view = view;
    this.verdict = verdict;
    this.knockouts = knockouts; // for a transformer, whose links are cut before the softmax
    this.matrices = [];
    this.switch = linkButton("", "Compute or hide what each link does", () =>
      view.ask({ links: view.asked.links ? "" : "kept" }),
    );
    this.computed = html("div");
    this.rule = html("div.choices.wraps", { role: "group", "aria-label": "The rest of the row" });
    this.answer = view.answer("links", "Ablating attention weights …", "link effects");
    this.maps = html("div");
    this.element = html(
      "section",
      { "aria-label": "What each link does" },
      html("div.headline", html("h2", "What each link does"), this.switch),
      fill(this.computed, {}, [this.rule, this.answer.element, this.maps]),
    );
  }

  // Maps in the current direction, in a model with several; else all.
  get shown() {
    const { directions, direction } = this.view;
    const own = this.matrices.filter(({ attention }) => attention.rows === direction);
    return directions.length > 1 && own.length ? own : this.matrices;
  }

  draw() {
    const { view } = this;
    const { links: asked } = view.asked;
    this.computed.hidden = !asked;
    this.switch.textContent = asked ? "Hide" : "Compute";
    view.question("links", asked && { links: asked });
    if (!asked) return;
    const maps = this.answer.value;
    const other = maps !== this.known;
    if (other) {
      this.known = maps;
      this.matrices = (maps ?? [])
        .map(linkMap)
        .map((map) => new LinkMatrix(view, map, this.verdict, Boolean(this.knockouts)));
      this.maps.replaceChildren(...this.matrices.map(({ element }) => element));
    }
    this.drawWays(asked);
    const { shown } = this;
    for (const matrix of this.matrices) {
      matrix.element.hidden = !shown.includes(matrix);
      matrix.draw();
    }
    // They may arrive together with looked-up values, after which the page is not laid out again.
    if (other && this.width) this.fit(this.width);
  }

  // The ways to ablate: what becomes of the rest of a row; for a transformer, links or whole heads, with their cost.
  drawWays(asked) {
    const { strongest, every, heads } = this.knockouts ?? {};
    const ways = this.knockouts
      ? {
          kept: `The strongest links of each direction (${strongest})`,
          [EVERY]: `Every link (${every})`,
          [HEADS]: `Whole heads (${heads})`,
        }
      : { kept: "stays as it is", renormalised: "is renormalised" };
    const own = ways[asked] ? asked : "kept";
    const cost = { kept: strongest, [EVERY]: every, [HEADS]: heads }[own];
    if (cost) this.answer.say(`Ablating one ${own === HEADS ? "head" : "link"} after the other, ${cost} …`);
    this.rule.hidden = Boolean(this.known?.some(({ least }) => least !== null)); // of scores, which have no sum
    refill(
      this.rule,
      html("span.soft", this.knockouts ? "Ablate one at a time" : "One weight is set to 0; the rest of its row"),
      Object.entries(ways).map(([name, text]) => choice(name === own, () => this.view.ask({ links: name }), text)),
    );
  }

  fit(width) {
    this.width = width;
    for (const matrix of this.shown) matrix.fit(width);
  }

  reveal() {
    for (const matrix of this.shown) matrix.reveal();
  }
}

/**
 * Whether a map's links can be cut: not if a function only reports the attention.
 * @param {import("../../components/evidence.js").EvidenceRecord} record
 */
const cuttable = (record) =>
  record.kind === "attention_map"
    ? record.scores.length + (record.own ?? []).length > 0
    : ATTENDING.includes(record.kind);

PANELS.links = {
  place: "details",
  asks: ({ evidence }) => evidence.some(cuttable),
  make: (view) => new LinksPanel(view, view.data.why),
};
