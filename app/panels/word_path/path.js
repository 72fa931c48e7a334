// The path from the selected word to the verdict: its scores, its weights, and the filter that it wins, number by
// number. On demand the numbers move from each row of cells to the next.

import { html } from "../../components/create.js";
import { heading, linkButton, refill } from "../../components/elements.js";
import { shorten } from "../../components/wording.js";
import { calm, travel } from "../../components/motion.js";
import { recordsOf } from "../../components/evidence.js";
import { PANELS } from "../../components/view.js";
import { askFilters } from "../filter_provenance/filters.js";
import { stagesOf } from "./stages.js";

const HOW = "From a word’s scores to the verdict, with the numbers of this model, from top to bottom.";
const MORE =
  "The scores compare the word’s vector with the other words’; the softmax turns them into weights, and the context is the sum of the other words’ vectors, each times its weight. A filter adds up what it finds in the word, its neighbours and its context; of a filter’s values over all words max-pooling keeps the largest. The value times the classifier’s weight is the filter’s share in the verdict’s logit, and all shares and the bias add up to it. A two-sided model first compares the word with its context: the two vectors, their product and difference, and how many words look across it; after a ReLU, that is the filter’s part for the word itself. The filter shown is the one won by this word that pushes most towards the verdict; a word may win many filters or none.";

class PathPanel {
  /**
   * @param {import("../../components/pair.js").PairView} view
   * @param {import("../../components/payloads").AttentionMap[]} maps over words, one per sentence with filters
   */
  constructor(view, maps) {
    this.view = view;
    this.maps = maps;
    this.row = undefined; // the word and the answer that are drawn
    this.value = undefined;
    this.stop = () => this.halt();
    this.play = linkButton("Let the numbers travel", "Let the numbers travel; any key stops them", () => this.go());
    this.frame = html("div.frame.stack");
    this.element = html(
      "section",
      { "aria-label": "How a word gets to the verdict" },
      heading("How a word gets to the verdict", HOW, MORE, [this.play]),
      this.frame,
    );
  }

  draw() {
    const { view, maps } = this;
    const { value } = askFilters(view);
    const selected = ({ rows }) => view.selection[view.sideOf(rows).axis];
    const map = maps.find((one) => selected(one) !== null) ?? maps[0];
    const row = selected(map);
    if (row === this.row && map === this.map && value === this.value) return;
    this.row = row;
    this.map = map;
    this.value = value;
    this.halt();
    const all = recordsOf(value?.evidence ?? [], "filter_provenance");
    const filters = all.find(({ rows }) => rows === map.rows);
    const opposite = all.find((other) => other !== filters);
    const reads = filters?.compared || filters?.filters.some(({ context }) => context !== 0); // the other sentence
    const whole = reads && filters.filters[0].logit_shares.length > 0;
    this.element.hidden = !whole;
    if (!whole) return;
    const classes = view.data.verdict.classes.map(({ label }) => label);
    const words = [map.rows, map.columns].map((role) => view.sideOf(role).tokens);
    const stages = row === null ? [] : stagesOf({ map, filters, opposite }, row, words, classes, view.data.explanation);
    this.play.hidden = calm() || stages.length === 0;
    if (!stages.length) return refill(this.frame, html("p.empty", "Select a word that looks at the other sentence."));
    this.lines = stages.map(({ name, cells, says }) => ({
      element: html(
        "div.line.labelled",
        html("span.soft", name),
        html("div.wraps.cells", cells.map(cell), says ? html("p.soft", says) : null),
      ),
      cells,
    }));
    refill(
      this.frame,
      this.lines.map(({ element }) => element),
    );
  }

  // From one row of cells to the next, each as soon as the previous one has arrived.
  go() {
    if (calm()) return;
    this.halt();
    for (const name of ["keydown", "pointerdown"]) window.addEventListener(name, this.stop, { capture: true });
    for (const { element } of this.lines.slice(1)) element.classList.add("later");
    this.step(1);
  }

  step(number) {
    const line = this.lines[number];
    if (!line || !this.element.isConnected) return this.halt();
    line.element.classList.remove("later");
    const [before, here] = [number - 1, number].map((at) => [...this.lines[at].element.querySelectorAll(".cell")]);
    const ways = here.map((to, i) => [line.cells[i].from.map((place) => before[place]), to]);
    this.rest = travel(this.frame, ways, () => this.step(number + 1));
  }

  halt() {
    for (const name of ["keydown", "pointerdown"]) window.removeEventListener(name, this.stop, { capture: true });
    this.rest?.();
    for (const { element } of this.lines ?? []) element.classList.remove("later");
  }
}

const cell = ({ text, word }) =>
  html(
    "span.stack",
    html("span.cell", { title: word }, html("span.text", text)),
    word ? html("span.tiny.soft", { dir: "auto" }, shorten(word, 18)) : null,
  );

// The maps over words that give the filters of the same sentences their contexts, in a model with both.
function mapsOf(records) {
  const filters = recordsOf(records, "filter_provenance").filter(({ contexts }) => contexts === 1);
  const maps = recordsOf(records, "attention_map").filter(
    ({ units, rows, scores }) => units === "words" && scores.length && filters.some((one) => one.rows === rows),
  );
  return maps.length ? [maps] : [];
}

PANELS.word_path = {
  place: "details",
  kinds: ["filter_provenance", "attention_map"],
  read: mapsOf,
  /** @param {import("../../components/payloads").AttentionMap[]} maps */
  make: (view, maps) => new PathPanel(view, maps),
};
