// The selected word's side of the attention: the words that its context mixes, or those that attend to it.

import { html } from "../../components/create.js";
import { heading, moreButton, refill } from "../../components/elements.js";
import { exactPercent, percent, plural, the } from "../../components/wording.js";
import { recordOf, sentences } from "../../components/evidence.js";
import { saveButtons } from "../../components/save.js";
import { PANELS } from "../../components/view.js";
import { askFilters } from "../filter_provenance/filters.js";

const NOT_IN_THE_TABLE =
  "which is not in the word table (its vector is made of its letters): no word is near it in meaning.";
const LEAST_BAR = 0.001; // smaller weights share one line
const MOST_BARS = 7;

class ContextPanel {
  /**
   * @param {import("../../components/pair.js").PairView} view
   * @param {import("../../components/payloads").AttentiveContext} record
   */
  constructor(view, record) {
    this.view = view;
    this.record = record;
    this.axes = view.axes(record);
    this.looked = new Map(); // nearest words by row
    this.answer = view.answer("explain", "looking them up …", "nearest words", "nearest");
    this.open = false;
    this.element = html("section.context", { "aria-live": "polite", "aria-label": "Attentive context" });
  }

  get direction() {
    return this.record.rows;
  }

  draw() {
    const [row, column] = this.axes.map((axis) => this.view.selection[axis]);
    if (row !== null) this.look(row);
    if (row !== null) refill(this.element, this.ofRow(row, column));
    else if (column !== null) refill(this.element, this.ofColumn(column));
    else refill(this.element, html("p.empty", "Select a word to see its context."));
  }

  // Requests the nearest words of a row's mix.
  look(row) {
    const { view, record, answer } = this;
    const { why, explanation } = view.data;
    if (!why || this.direction !== (view.direction ?? this.direction)) return;
    const side = sentences(explanation).findIndex(({ role }) => role === record.rows);
    if (!this.looked.has(row)) {
      const records = ["attentive_context"];
      view.question("nearest", { word: { side, index: row }, records }, why.shown);
    }
    const { word } = answer.value ? answer.body : {};
    if (word?.side !== side) return;
    const { nearest } = recordOf(answer.value, "attentive_context", ({ rows }) => rows === record.rows);
    this.looked.set(word.index, nearest[word.index]);
  }

  ofRow(row, column) {
    const { rows, columns, weights } = this.record;
    return [
      this.heading(
        "Attentive context of ",
        rows,
        row,
        this.map?.apart
          ? `One mix of words for each line of ${the(columns)}: over each line the weights add up to 100\u00a0%.`
          : `The mix of ${columns} words that the model reads together with it.`,
      ),
      this.bars(weights[row], 1, column, this.none?.weights[row]),
      this.nearest(row),
      this.won(rows, row),
    ];
  }

  ofColumn(column) {
    const { rows, columns, weights } = this.record;
    return [
      this.heading(
        "Who looks at ",
        columns,
        column,
        `The share of its weight that each ${rows} word puts here; they need not add up to 1.`,
      ),
      this.bars(
        weights.map((row) => row[column]),
        0,
        null,
      ),
      this.won(columns, column),
    ];
  }

  heading(title, role, index, how) {
    const word = this.view.sideOf(role).tokens[index];
    const saves = saveButtons(this.view, "context", () => ({
      file: `context-${role}-${index + 1}`,
      title: title + word,
      elements: [this.element.querySelector(".bars")],
    }));
    return heading([title, html("bdi.selected", { "data-part": "context-word" }, word)], how, "", saves);
  }

  ranked(weights, edge) {
    const { tokens } = this.view.sideOf(edge ? this.record.columns : this.record.rows);
    return weights
      .map((weight, index) => ({ weight, index, word: tokens[index] }))
      .sort((a, b) => b.weight - a.weight || a.index - b.index);
  }

  // The matrix of the same weights.
  get map() {
    const { rows, columns } = this.record;
    return this.view.data.maps.find((map) => map.rows === rows && map.columns === columns);
  }

  // Each word's weight on the null word, in a model that has one.
  get none() {
    return this.map?.none;
  }

  // The words of this edge (0: rows, 1: columns) with the largest weights, the selected one, and the null word, all on
  // one scale from 0 to 100 %; negligible weights share one line.
  bars(weights, edge, selected, nothing) {
    const ranked = this.ranked(weights, edge);
    const worth = ranked.filter(({ weight }) => weight >= LEAST_BAR);
    const best = this.open ? [...worth] : worth.slice(0, MOST_BARS);
    if (selected !== null && !best.some((bar) => bar.index === selected)) {
      if (best.length === MOST_BARS && !this.open) best.pop();
      best.push(ranked.find((bar) => bar.index === selected));
    }
    if (nothing !== undefined) best.push({ weight: nothing, index: null, word: this.none.word });
    const rest = weights.length - best.filter((bar) => bar.index !== null).length;
    const left = weights.reduce((a, b) => a + b, 0) - best.reduce((a, b) => a + (b.index === null ? 0 : b.weight), 0);
    const others = plural(rest, "other word", "other words");
    const line = ({ weight, index, word }) => {
      const [own, other] = [this.axes[edge], this.axes[1 - edge]];
      const pick = () => this.view.pick({ [own]: index, [other]: this.view.selection[other] });
      return html(
        "li",
        { class: index === null ? "of-nothing" : index === selected && "on", title: exactPercent(weight) },
        index === null
          ? html("span.none", word)
          : html("button", { dir: "auto", "data-word": index, onclick: pick }, word),
        html("i", html("span.share", { style: `width:${100 * weight}%` })),
        html("span.number", { class: index !== null && index === selected && "best" }, percent(weight)),
      );
    };
    const under = ({ weight }) =>
      rest > 1 ? `${others}, each below ${percent(Math.max(0.001, weight + 5e-4))}` : `${others}: ${percent(weight)}`;
    return html(
      "ol.bars.bar-lines.mid",
      best.map(line),
      html("li.axis.tiny", { "aria-hidden": "true" }, html("i", html("span", "0"), html("span", "100\u00a0%"))),
      rest > 0 &&
        html(
          "li.rest.soft",
          edge
            ? `${others}${rest > 1 ? " together" : ""}: ${percent(Math.max(0, left))}`
            : under(ranked.find((bar) => !best.includes(bar))),
        ),
      worth.length > MOST_BARS && html("li.rest.soft", moreButton(this, worth.length, MOST_BARS, "words")),
    );
  }

  nearest(row) {
    if (!this.view.data.why) return null;
    const found = this.looked.get(row);
    const line = (...words) => html("p.nearest.soft", { "data-part": "nearest" }, words);
    const title = this.map?.apart ? "Nearest words to these mixes together: " : "Nearest words to this mix: ";
    if (!found) return line(title, this.answer.problem || html("span.wait", "looking them up …"));
    if (!found.nearest.length)
      return line("Mostly ", html("b", html("bdi", this.unknown(row))), `, ${NOT_IN_THE_TABLE}`);
    const words = found.nearest.map((word, i) => [
      i ? ", " : "",
      html("b", { title: `cosine ${found.similarity[i].toFixed(3)}` }, html("bdi", word)),
    ]);
    return line(title, words);
  }

  // The heaviest word outside the word table in a row's mix.
  unknown(row) {
    const { tokens, unknown } = this.view.sideOf(this.record.columns);
    const weights = this.record.weights[row];
    const [first] = [...unknown].sort((a, b) => weights[b] - weights[a]);
    return first === undefined ? "" : tokens[first];
  }

  // The filters that a word has won, and the one with the largest effect on the verdict.
  won(role, index) {
    const { why, explanation } = this.view.data;
    const same = ({ rows }) => rows === role;
    if (!why || !recordOf(explanation, "filter_provenance", same)) return null;
    const { value, problem } = askFilters(this.view);
    if (!value) return html("p.nearest.soft", problem || html("span.wait", "looking up its filters …"));
    const { filters } = recordOf(value, "filter_provenance", same);
    const won = filters.filter(({ position }) => position === index);
    const text = `This word is at the centre of the winning n-gram in ${won.length} of ${plural(filters.length, "filter", "filters")}`;
    return html("p.nearest.soft", text, won.length > 0 && won[0].logit_shares.length > 0 && this.strongest(won), ".");
  }

  strongest(won) {
    const towards = won.flatMap(({ index, logit_shares: shares }) => {
      const mean = shares.reduce((a, b) => a + b, 0) / shares.length;
      return shares.map((share, i) => ({ index, label: this.view.data.verdict.classes[i].label, push: share - mean }));
    });
    const { index, label } = towards.reduce((one, other) => (other.push > one.push ? other : one));
    return `; the strongest, filter ${index}, pushes towards ${label}`;
  }
}

PANELS.attentive_context = { place: "beside", make: (view, record) => new ContextPanel(view, record) };
