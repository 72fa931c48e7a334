// Manual changes of the attention: the weight of the selected cell, or a whole map.

import { html } from "../../components/create.js";
import { chooser, numbered, refill } from "../../components/elements.js";
import { the } from "../../components/wording.js";
import { CellGestures } from "./gestures.js";

const PAUSE = 500; // milliseconds after which a moved slider counts as released
const SEEDS = 10_000;
const [COLDEST, HOTTEST] = [-2, 5.65]; // of the slider: powers of two
const RULES = [
  ["renormalised", "is renormalised"],
  ["kept", "is unchanged"],
];

const asPercent = (value) => `${Number(value.toPrecision(4))}\u00a0%`;

// The matches of a score-based model, selected by their words: the model's matrix is not drawn.
class Scores {
  constructor(view, map) {
    this.view = view;
    this.map = map;
    this.rows = map.words[0];
    this.columns = map.words[1];
    this.count = this.columns.length;
  }

  word(j) {
    return this.columns[j];
  }

  number(_, i, j) {
    return this.map.shares[i][j];
  }

  // The match to change: from the selected words, else from the last selected ones, else the best.
  get selected() {
    const { view, map } = this;
    const best = map.shares.map((row) => Math.max(...row));
    const i = best.indexOf(Math.max(...best));
    const last = view.match ?? [i, map.shares[i].indexOf(best[i])];
    if (map.units !== "words") return last.map((at, axis) => Math.min(at, map.words[axis].length - 1));
    const words = [map.rows, map.columns].map((role) => view.selection[view.sideOf(role).axis]);
    return words.map((word, axis) => word ?? Math.min(last[axis], map.words[axis].length - 1));
  }

  part() {
    return this.view.selection;
  }

  // Another match, with only one end changed.
  choose(axis, at) {
    const { view, map } = this;
    view.match = this.selected.with(axis, at);
    if (map.units === "words") view.select({ [view.sideOf([map.rows, map.columns][axis]).axis]: at });
  }
}

export class AttentionEditor {
  /** @type {HTMLElement | null} the number next to the slider */
  said = null;

  /** @param {import("./what_if.js").WhatIfPanel} panel which makes changes and has `maps` in its data */
  constructor(panel) {
    this.panel = panel;
    this.view = panel.view;
    const { maps, scores } = panel.data;
    this.maps = [...maps, ...scores]; // every model has one kind
    this.scores = scores.map((map) => new Scores(this.view, map));
    this.element = html("div.weights-by-hand.mid");
    this.whole = html("div.whole.controls.mid.screen", { role: "group", "aria-label": "Change all of the attention" });
    this.timer = 0;
  }

  // The map in the current direction, if there are several.
  get map() {
    return this.maps.find(({ rows }) => rows === this.view.direction) ?? this.maps[0];
  }

  matrixOf({ rows, columns }) {
    if (this.scores.length) return this.scores.find(({ map }) => map.rows === rows && map.columns === columns);
    return this.view.panels.find(
      (panel) => panel.ribbons && panel.attention?.rows === rows && panel.attention.columns === columns,
    );
  }

  // The rule for the rest of a row. It is kept in the panel that follows a change.
  get rest() {
    return this.view.restOfRow ?? RULES[0][0];
  }

  listen() {
    for (const map of this.maps) this.listenTo(map);
  }

  draw() {
    if (!this.maps.length) return;
    const { map } = this;
    const matrix = this.matrixOf(map);
    const [row, selected] = matrix?.selected ?? [null, null];
    const column = selected ?? (matrix?.onNone ? matrix.count - 1 : null);
    const key = [map.number, row, column].join();
    if (key !== this.drawn) {
      this.drawn = key;
      this.slider = null;
      const chosen = row !== null && column !== null;
      const lines = chosen
        ? this.ofTheCell(map, matrix, [row, column])
        : html("p.soft", "Click a cell to change its weight.");
      refill(this.element, matrix && lines);
    }
    if (map.number !== this.known) {
      this.known = map.number;
      refill(this.whole, this.ofTheMap(map));
    }
  }

  listenTo(map) {
    const matrix = this.matrixOf(map);
    if (!matrix?.frame) return;
    new CellGestures(matrix, {
      moved: (at, weight) => {
        this.show(at, weight);
        const kept = weight === matrix.number("weights", ...at);
        this.view.preview(kept ? [] : [this.edit(map, at, weight)]);
      },
      released: (at, weight) => this.make(this.edit(map, at, weight), matrix.part(at)),
    });
  }

  // Requests it when no other request is pending.
  make(text, stays = this.view.selection) {
    clearTimeout(this.timer);
    if (this.view.editing) this.timer = setTimeout(() => this.make(text, stays), PAUSE);
    else this.panel.make(text, stays);
  }

  edit(map, [i, j], weight) {
    return `cell ${map.number} ${i} ${j} ${Number(weight.toFixed(4))} ${this.rest}`;
  }

  // The current state of the gestures in the matrix.
  show(at, weight) {
    if (!this.slider || String(this.at) !== String(at)) return;
    this.slider.value = String(100 * weight);
    this.said.textContent = asPercent(100 * weight);
  }

  ofTheCell(map, matrix, at) {
    this.at = at;
    const [from, to] = [matrix.rows[at[0]], matrix.word(at[1])];
    const weight = matrix.number("weights", ...at);
    const scored = matrix instanceof Scores;
    const label = scored
      ? `Match of “${from}” with “${to}”, in percent of the way from the least to the best`
      : `Weight with which “${from}” looks at “${to}”, in percent`;
    const ends = scored
      ? [this.end(map, matrix, 0), " matches ", this.end(map, matrix, 1), " with"]
      : [html("bdi.selected", `“${from}”`), " looks at ", html("bdi.selected", `“${to}”`), " with"];
    const edit = (value) => this.edit(map, at, value / 100);
    const range = { min: 0, max: 100, step: 1, "aria-label": label, "data-name": "weight" };
    [this.slider, this.said] = this.slide(range, 100 * weight, asPercent, edit);
    return html(
      "div.controls.of-a-cell",
      html("span.controls", ends),
      this.slider,
      this.said,
      scored ? null : this.rules(),
    );
  }

  // A slider and its number: its edits are previewed while it moves, and made on release.
  slide(range, start, write, edit) {
    const value = () => Number(slider.value);
    const said = html("output", write(start));
    const slider = html("input", {
      type: "range",
      ...range,
      oninput: () => {
        clearTimeout(this.timer);
        said.textContent = write(value());
        slider.setAttribute("aria-valuetext", said.textContent);
        this.view.preview([edit(value())]);
      },
      onchange: () => {
        clearTimeout(this.timer);
        this.timer = setTimeout(() => this.make(edit(value())), PAUSE);
      },
    });
    slider.value = String(start);
    return [slider, said];
  }

  // The word at one end of a match, selectable.
  end(map, matrix, axis) {
    const name = `end-${axis}`;
    const label = `${["Match of", "Match with"][axis]} (${the([map.rows, map.columns][axis])})`;
    const choose = (at) => {
      matrix.choose(axis, Number(at));
      this.draw();
      this.element.querySelector(`[data-name="${name}"]`)?.focus();
    };
    return chooser(numbered(map.words[axis]), this.at[axis], choose, { "aria-label": label, "data-name": name });
  }

  rules() {
    const choose = (rest) => {
      this.view.restOfRow = rest;
    };
    const select = chooser(RULES, this.rest, choose, { "aria-label": "The rest of a row" });
    return html("label.soft", "the rest of a row ", select);
  }

  ofTheMap(map) {
    const edit = (name, text, label, values = () => "") =>
      this.panel.button(text, label, () => this.make(`${name}${values()}`), { name });
    const scored = this.scores.length > 0;
    const crossed = this.view.data.maps.some((one) => one.crossed);
    return [
      html("span.soft", this.maps.length > 1 ? `Where ${the(map.rows)} looks:` : scored ? "Matches:" : "Attention:"),
      edit(
        "uniform",
        "Uniform",
        `Attention uniform: ${scored ? "each row’s mean" : "the same weight on all words"}`,
        () => {
          return ` ${map.number}`;
        },
      ),
      edit("permuted", "Permuted", "Attention permuted: the weights of each row in another order", () => {
        return ` ${map.number} ${Math.floor(Math.random() * SEEDS)}`;
      }),
      this.temperature(),
      crossed ? edit("uncrossed", "Without crossings", "Crossing words not counted: q is 0 for every word") : null,
    ];
  }

  // On a scale of powers of two, with unchanged attention in the middle.
  temperature() {
    const shown = (power) => String(Number((2 ** power).toPrecision(2)));
    const label = "Temperature of the attention";
    const range = { min: COLDEST, max: HOTTEST, step: "any", "aria-label": label, "data-name": "temperature" };
    return html(
      "label.controls",
      "temperature ",
      ...this.slide(range, 0, shown, (power) => `temperature ${shown(power)}`),
    );
  }
}
