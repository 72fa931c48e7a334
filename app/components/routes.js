// By which parts of the model a difference between two versions of a pair reaches the verdict: a sentence, and a bar in
// signed parts that add up to the difference.

import { differenceLook } from "./colours.js";
import { html } from "./create.js";
import { heading, refill, table } from "./elements.js";
import { dataButtons, saveButtons } from "./save.js";
import { plural, signed } from "./wording.js";

const TITLE = "What carries the difference";
const MORE =
  "The model is run once for every combination of its parts, with these taken from the other version and the rest from this one, so that the difference is divided without gradients or assumptions. A part’s share is its Shapley value: what exchanging it changes on average, over all orders in which the parts can be exchanged; the shares add up to the difference. “Alone”: what it changes if nothing else is exchanged; “last”: if everything else already is. If the two differ, the part works together with others, or does what others do too. A negative share works against the difference, so that the others add up to more than 100 %. A share says by which part of this model the change travels. It does not say that the other parts are unimportant for the verdict, nor that attention explains it: weights that carry everything can still look at the wrong word.";
const percent = (share) => `${signed(100 * share, 0).replace("+", "")}\u00a0%`;

/**
 * The parts of a bar from the least to the largest end: each part's share of the difference, where it begins, and its
 * width as shares of the whole track. Parts against the difference lie to the left of zero.
 * @param {{ share: number }[]} routes
 * @param {number} difference
 */
export function partsOf(routes, difference) {
  const shares = routes.map(({ share }) => share / difference);
  const total = (sign) => shares.filter((share) => Math.sign(share) === sign).reduce((all, share) => all + share, 0);
  const [least, most] = [total(-1), total(1)];
  let [left, right] = [0, 0];
  const parts = shares.map((share) => {
    const start = share < 0 ? (left += share) : right;
    if (share >= 0) right += share;
    return { share, start: (start - least) / (most - least), width: Math.abs(share) / (most - least) };
  });
  return { parts, zero: -least / (most - least) };
}

/**
 * Whether edits in their text form keep the number of words of each text, so that two versions can be compared word by
 * word.
 * @param {string[]} edits
 */
export const keepsLengths = (edits) =>
  edits.length > 0 && edits.every((edit) => /^(replace \d+ \d+ \S+|swap .*)$/.test(edit));

/** @typedef {import("./view.js").View<import("./payloads").Frame>} FigureView */

// Draws an answer of `/api/routes`: its figure as it arrives, and its progress until it is complete.
export class Carried {
  /** @param {import("./ask.js").Answer<"routes">} answer */
  constructor(answer) {
    this.answer = answer;
    this.figure = html("div");
    this.element = html("div", this.figure, html("div", answer.element));
  }

  /**
   * @param {FigureView} view
   * @param {import("./payloads").About} [about] of saved figures
   */
  draw(view, about) {
    const known = this.answer.value ?? this.answer.part;
    if (known === this.drawn) return;
    this.drawn = known;
    refill(this.figure, known && routesFigure(view, known, about));
  }
}

/**
 * @param {FigureView} view
 * @param {import("./payloads").Answers["routes"]} record
 * @param {import("./payloads").About} [about]
 */
function routesFigure(view, record, about = view.data.about) {
  if (record.kind === "layer_routes") return layersFigure(view, record, about);
  const { routes, difference, unit, sentence, change } = record;
  const { parts, zero } = partsOf(routes, difference);
  const box = ({ start, width }) => `left:${100 * start}%;width:${100 * width}%`;
  const bar = html(
    "div.route-bar",
    { role: "img", "aria-label": routes.map(({ route }, i) => `${route} ${percent(parts[i].share)}`).join(", ") },
    parts.map((part, i) => {
      const attributes = { style: box(part), title: `${routes[i].route}: ${percent(part.share)}` };
      if (part.width < 0.002) return null; // its border would show
      return html(`i.part-${i}${part.share < 0 ? ".against" : ""}`, attributes);
    }),
    html("b", { style: `left:${100 * zero}%` }),
  );
  const number = (value) => html("td.number", signed(value, 2));
  const lines = routes.map(({ route, share, alone, last }, i) =>
    html(
      "tr",
      html("th", { scope: "row" }, html(`i.route-key.part-${i}`), route),
      html("td.number", html("b", percent(parts[i].share))),
      [share, alone, last].map(number),
    ),
  );
  const head = ["", "Share", `In ${unit}`, "Alone", "Last"].map((name, i) => html(i ? "th.number" : "th", name));
  const figure = html("div.routes", bar, html("div.scroll", table(head, lines)));
  const title = `${TITLE}: ${sentence}`;
  const saves = savesOf(view, "what carries the difference", { file: "routes", title, element: figure, about }, record);
  return html(
    "section.of-routes",
    { "aria-label": TITLE },
    html("p.carried", sentence),
    figure,
    heading(null, `${change}.`, MORE, saves),
  );
}

// Buttons that save a figure and its numbers.
function savesOf(view, what, { file, title, element, about }, record) {
  return [
    saveButtons(view, what, () => ({ file, title, elements: [element], about })),
    dataButtons(what, file, record, about),
  ];
}

const LAYERS_MORE =
  "The model is run once per word and layer: with the states of all pieces of the word after that layer taken from the other version, and everything else from this one (activation patching). A cell is the share of the difference that this restores; unlike the shares of a model’s parts, the cells need not add up, since later layers read earlier ones. Heads: the share restored if one head takes only its attention weights from the other version (pattern), or only what it reads (values). Special tokens, such as the one that the classifier reads, hold what words said in earlier layers. A high cell says that the difference passes through this state, not what the state means.";

const LEAST = 0.02; // share of the difference below which a word's states are not listed

// A table of shares, each cell tinted by its size.
function sharesTable(corner, rows, names, columns) {
  const missing = (row) => columns.slice(row.length).map(() => html("td.number"));
  const cell = (share) => {
    const { ground, ink } = differenceLook(Math.max(-1, Math.min(1, share)));
    const style = `background:${ground};color:${ink}`;
    return html("td.number", { style, title: percent(share) }, Math.abs(share) < 0.005 ? "" : percent(share));
  };
  const head = [html("th", corner), columns.map((name) => html("th.number", { scope: "col" }, name))];
  const lines = rows.map((row, i) =>
    html("tr", html("th", { scope: "row" }, html("bdi", names[i])), row.map(cell), missing(row)),
  );
  return html("div.scroll", table(head, lines));
}

const turned = (rows) => rows[0].map((_, j) => rows.map((row) => row[j]));

function layersFigure(view, record, about) {
  const { states, patterns, values, words, change, sentence } = record;
  const [own, other] = words;
  const names = own.map((word, i) => (word === other[i] ? word : `${word} → ${other[i]}`));
  const byWord = turned(states);
  const told = byWord.flatMap((row, i) =>
    own[i] !== other[i] || row.some((share) => Math.abs(share) >= LEAST) ? i : [],
  );
  const rest = byWord.length - told.length;
  const complete = states.length === record.layers;
  const layers = Array.from({ length: record.layers }, (_, i) => `${i + 1}`);
  const map = html(
    "div.routes",
    sharesTable(
      "after layer",
      told.map((i) => byWord[i]),
      told.map((i) => names[i]),
      layers,
    ),
    complete &&
      rest > 0 &&
      html("p.soft", `${plural(rest, "other word", "other words")}: below ${percent(LEAST)} after every layer`),
  );
  if (!complete) return html("section.of-routes", { "aria-label": TITLE, "aria-busy": "true" }, map);
  const heads = (rows) =>
    sharesTable(
      "layer, head",
      rows,
      layers,
      rows[0].map((_, i) => `${i + 1}`),
    );
  const figure = { file: "states", title: `${TITLE}: ${sentence}`, element: map, about };
  const saves = savesOf(view, "shares of states", figure, record);
  return html(
    "section.of-routes",
    { "aria-label": TITLE },
    html("p.carried", sentence),
    heading(null, `${change}. A cell: the share restored by a word’s states after a layer.`, LAYERS_MORE, saves),
    map,
    html(
      "details.routes",
      html("summary", "Heads, by pattern and by values"),
      [
        ["Attention weights (pattern) of one head", patterns],
        ["Values that one head reads", values],
      ].map(([title, rows]) => [html("h3.mid", title), heads(rows)]),
    ),
  );
}
