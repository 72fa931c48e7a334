// Compare: verdicts and attention side by side on one scale, where they differ, and how much words disagree.

import { PROJECTED } from "../panels/attention_map/grid.js";
import { aloneIn } from "../panels/attention_map/matrix.js";
import { MatrixPanel } from "../panels/attention_map/panel.js";
import { barsOf } from "../panels/effects/records.js";
import { Answer } from "./ask.js";
import { axisLine, barLine, barList, factsOf, rangeOf, wordOf } from "../panels/effects/bars.js";
import { differenceLook, legend, scaleEnd, weightLook } from "./colours.js";
import {
  capital,
  directionOf,
  heading,
  html,
  linkButton,
  percent,
  refill,
  signed,
  svg,
  table,
  the,
} from "./elements.js";
import { saveButtons } from "./save.js";
import { sharesOf } from "./shares.js";
import { VIEWS, View } from "./view.js";

const NUMBERED = { most: 36, least: 22 }; // cells that hold a number
const FIRST_WORDS = 4; // of each sentence have a bar before more are asked for
const STEPS = 100; // of a scale, so that cells alike are drawn together
const DIFFERENCES = Array.from({ length: 21 }, (_, i) => differenceLook(i / 10 - 1).ground);
const MANY = 2500; // cells; more are drawn without numbers, as one shape a colour

// A matrix beside others: numbers in its cells, the scale of all, a selection of its own.
class ComparedMatrix extends MatrixPanel {
  // `title`: of a saved figure; `how`: how to read it; `what` and `file`: the saved figure and its file; `low` and
  // `high`: the ends of its scale; `absent`: what is no word in a matrix beside it, where one has such a column.
  constructor(view, { words, none, none_word: word, ...matrix }, { about, ...labels }) {
    const chosen = () => {
      this.draw();
      this.reveal();
    };
    super(aloneIn(view, words, matrix.rows, chosen, { about }), {
      ...matrix,
      ...labels,
      values: matrix.weights,
      show: "weight",
      none: none && { word, weights: none, values: none },
    });
    this.element.classList.add("attention_map"); // whose style it has
    if (!this.dense) return;
    for (const name of ["aria-rowcount", "aria-colcount"]) this.frame.removeAttribute(name);
    this.frame.setAttribute("role", "img");
    this.frame.tabIndex = 0;
  }

  get dense() {
    return this.rows.length * this.count > MANY;
  }

  get sizes() {
    return this.view.type > 1 || this.dense ? super.sizes : NUMBERED;
  }

  get signed() {
    return this.attention.low < 0;
  }

  get labels() {
    const { rows, columns, low, high } = this.attention;
    const more = `Rows are ${the(rows)}, columns ${the(columns)}; the numbers are percentages. ${this.dense ? "Point at a cell for its value." : "Point at a cell for its exact value; with the keyboard, Tab to the matrix, move with the arrow keys, Home and End."}`;
    const scale = this.signed
      ? ["difference", `\u2212${percent(high)}`, `+${percent(high)}`, DIFFERENCES]
      : ["weight, one scale for all", percent(low), percent(high)];
    return { ...this.attention, headed: "", more, scale };
  }

  describe(i, j) {
    if (!this.signed) return super.describe(i, j);
    return `${this.rows[i]} to ${this.word(j)}: difference ${signed(100 * this.number("weights", i, j), 1)}\u00a0%`;
  }

  facts(i, j) {
    if (!this.signed) return super.facts(i, j);
    return [html("span", `difference ${signed(100 * this.number("weights", i, j), 2)}\u00a0%`)];
  }

  look(value) {
    const share = Math.round((STEPS * value) / this.attention.high) / STEPS;
    return this.signed ? differenceLook(share) : weightLook(share);
  }

  colour(value) {
    return this.look(value).ground;
  }

  // What `draw(i, j)` gives for every cell, by what `kind` says of its value.
  grouped(kind, draw) {
    const cells = this.rows.flatMap((_, i) => this.places.map((j) => ({ i, j, value: this.number("values", i, j) })));
    return Array.from(
      Map.groupBy(cells, ({ value }) => kind(value)),
      ([name, all]) => [name, all.map(draw)],
    );
  }

  // All cells of a colour are one shape where there are many.
  cellRows() {
    if (!this.dense) return super.cellRows();
    const side = this.cell - 1;
    const squares = this.grouped(
      (value) => this.colour(value),
      ({ i, j }) => `M${this.x(j)} ${i * this.cell}h${side}v${side}h${-side}z`,
    );
    return svg(
      "g",
      squares.map(([fill, shapes]) => svg("path", { fill, d: shapes.join("") })),
    );
  }

  rect(i, j) {
    return this.dense ? null : super.rect(i, j);
  }

  placeOf(event) {
    if (!this.dense) return super.placeOf(event);
    const box = this.body.getBoundingClientRect();
    const [x, i] = [event.clientX - box.left, Math.floor((event.clientY - box.top) / this.cell)];
    const j = this.places.findIndex((column) => x >= this.x(column) && x < this.x(column) + this.cell);
    return event.target.closest(".cells") && i >= 0 && i < this.rows.length && j >= 0 ? [i, j] : null;
  }

  key(event) {
    if (!this.dense) super.key(event); // else the arrow keys scroll the frame
  }

  numbers() {
    if (this.dense) return null;
    const texts = this.grouped(
      (value) => this.look(value).ink,
      ({ i, j, value }) => svg("text", { x: this.x(j) + this.cell / 2, y: (i + 0.5) * this.cell }, this.written(value)),
    );
    return svg(
      "g.numbers",
      { "aria-hidden": "true", "font-size": Math.min(12, 0.5 * this.cell) * this.view.type },
      texts.map(([ink, all]) => svg("g", { style: `fill:${ink}` }, all)),
    );
  }

  written(value) {
    const whole = Math.abs(100 * value).toFixed(0);
    if (!this.signed) return whole;
    return whole === "0" ? "" : (value < 0 ? "\u2212" : "+") + whole;
  }

  fit() {
    this.build(this.frame.clientWidth, Math.min(560 * this.view.type, 0.85 * window.innerHeight));
  }
}

/** @extends {View<import("./payloads").Drawn["compare"]>} */
class CompareView extends View {
  static crowded = true;

  /** @type {Answer[]} word effects of each section, in their order */
  answers = [];

  draw() {
    this.drawEffects();
  }

  build() {
    this.effects = [];
    for (const answer of this.answers.slice(this.data.sections.length)) answer.ask(null);
    const { sections, differences = [], agreement, hint } = this.data;
    const drawn = sections.map(({ matrix }) => matrix).filter(Boolean);
    const [longest] = drawn.map((own) => own.none_word).sort((one, other) => other.length - one.length);
    this.absent = longest ? { word: longest } : null;
    this.matrices = [];
    // Columns stand below each other rather than cut a matrix, but for the matrix of a long pair.
    const widest = Math.max(0, ...drawn.map(({ words }) => words[1].length)) + (this.absent ? 2 : 1);
    const column =
      this.type > 1
        ? Math.max(560, 160 + PROJECTED.least * widest)
        : Math.min(440, Math.max(sections.length > 3 ? 400 : 285, 110 + NUMBERED.least * widest));
    const grid = (kind, parts) => html("div", { class: kind, style: `--column:${column}px` }, parts);
    return [
      grid(
        "compared",
        sections.map((one, number) => this.section(one, number)),
      ),
      hint
        ? html("p.empty", hint)
        : grid("compared differences", [...differences.map((one) => this.difference(one)), this.agreement(agreement)]),
    ];
  }

  section({ title, problem, verdict, facts, sentences, pooled, matrix, about, question }, number) {
    this.answers[number] ??= new Answer("why", "Computing …", "word effects", () => this.drawEffects());
    this.answers[number].ask(question, this.leave.signal);
    if (problem) return html("section", html("h2", title), html("p", problem));
    const { headline, bar, key } = sharesOf(verdict.classes);
    const pooling = pooled.length ? this.pooling(title, pooled, about) : null;
    const attention = matrix
      ? this.matrix(matrix, {
          title: `${title}: where each word of ${the(matrix.rows)} looks`,
          how: `Where each word of ${the(matrix.rows)} looks, as percentages of its weight.`,
          what: `matrix of ${title}`,
          file: `compared-attention-of-${matrix.rows}`,
          about,
          low: 0,
          high: this.data.high,
          absent: this.absent,
        })
      : pooling
        ? null
        : html("p.empty", "It shows no attention for these words.");
    return html(
      "section",
      html(
        "div",
        html("h2", title),
        html("div.said", headline),
        bar,
        key,
        html("p", facts.join(" · ")),
        sentences.map(({ words, marked }) =>
          html(
            "p.words",
            { dir: "auto" },
            words.map((word, i) => [marked.includes(i) ? html("mark", word) : word, " "]),
          ),
        ),
      ),
      this.effectsOf(title, about, number),
      html("div", attention, pooling),
    );
  }

  // A place for what words do, with the figure's name for its files.
  effectsOf(title, about, number) {
    const place = html("div.effects");
    this.effects.push({ title, about, place, number });
    return place;
  }

  // What each word does to each verdict, on one scale: the same words everywhere, those that do most anywhere, in the
  // order of the text.
  drawEffects() {
    const { sections } = this.data;
    const shown = sections.map(({ problem, read = [] }, number) => {
      const known = this.answers[number].value;
      const bars = known && barsOf(known, known.method);
      const sides = problem ? [] : read;
      return {
        known,
        sides: sides.map(({ role, words }) => ({
          role,
          words: words.map((text, index) => wordOf(text, index, bars?.[role]?.[index])),
        })),
      };
    });
    const all = shown.flatMap(({ sides }) => sides);
    const range = rangeOf(
      all.flatMap(({ words }) => words),
      shown.find(({ known }) => known)?.known.unit,
    );
    const most = new Map();
    const name = (role, { text, index }) => `${role} ${index} ${text}`;
    for (const { role, words } of all)
      for (const word of words)
        most.set(name(role, word), Math.max(most.get(name(role, word)) ?? 0, Math.abs(word.effect ?? 0)));
    const chosen = (role, words) => {
      const ranked = [...words].sort((a, b) => most.get(name(role, b)) - most.get(name(role, a)) || a.index - b.index);
      return ranked.slice(0, this.whole ? Infinity : FIRST_WORDS).sort((a, b) => a.index - b.index);
    };
    for (const { place, number, ...figure } of this.effects) {
      const { known, sides } = shown[number];
      const { followed, problem } = sections[number];
      if (problem) continue;
      const lists = html(
        "div.words-and-bars",
        sides.map(({ role, words }) => {
          const lines = chosen(role, words).map((word) => {
            const facts = factsOf(word, known, followed);
            return barLine(html("span.word", { dir: "auto" }, word.text), word, range, facts);
          });
          return barList(role, [...lines, axisLine(range)]);
        }),
      );
      const state = known ? null : html("p", this.answers[number].element);
      refill(place, this.effectsHeading(followed, lists, figure), state, lists);
    }
  }

  effectsHeading(followed, lists, { title, about }) {
    const whole = linkButton(
      this.whole ? "Longest bars only" : "All words",
      "Show all words, or those that do most anywhere",
      () => {
        this.whole = !this.whole;
        this.drawEffects();
      },
    );
    const saves = saveButtons(this, `effects of ${title}`, () => ({
      file: "compared-effects",
      title: `${title}: how each word affects “${followed}”`,
      elements: [lists],
      about,
    }));
    return heading(
      "",
      `How each word affects “${followed}”. Right and filled: it supports it; left and hollow: it opposes it.`,
      "One scale for all: log p of the verdict (of a model with one output, its score) before minus after the word is removed (dropped and replaced). The thin line is the spread over the replacements. Explore has the other methods and says what each cannot tell. The same words are shown for each, those with the largest effect in any of them.",
      [whole, saves],
    );
  }

  matrix(matrix, options) {
    const panel = new ComparedMatrix(this, matrix, options);
    this.matrices.push(panel);
    return panel.element;
  }

  // Sentences whose words are shaded by how much they count in pooling.
  pooling(title, pooled, about) {
    const word = (text, share, high) => {
      const { ground, ink } = weightLook(share / high);
      return html(
        "span.chip",
        { dir: "auto", style: `background:${ground};color:${ink}`, title: percent(share) },
        text,
      );
    };
    const stage = html(
      "div.stage",
      pooled.map(({ role, words, shares }) => [
        html("div", html("span.role.soft", capital(role))),
        html(
          "div.chips.wraps.mid",
          { dir: directionOf(words) },
          words.map((text, i) => word(text, shares[i], scaleEnd(shares, 1))),
        ),
      ]),
    );
    const ends = pooled.map(({ role, shares }) => `${percent(scaleEnd(shares, 1))} of ${the(role)}`);
    const key = legend("share, each sentence’s scale", "0\u00a0%", ends.join(", "));
    const saves = saveButtons(this, `pooling of ${title}`, () => ({
      file: "compared-pooling",
      title: `${title}: how much of each word pooling takes`,
      elements: [stage, key],
      about,
    }));
    const more =
      "The shares of a sentence add up to 1; its scale runs to its largest share, and at least to twice the mean. Point at a word for its share.";
    return [heading("", "How much of each word pooling takes: brighter, more.", more, saves), stage, key];
  }

  difference({ titles: [base, other], mean, matrix, about }) {
    const title = `${base} minus ${other.replace(/^The other version$/, "the other")}`;
    const { furthest } = this.data;
    return html(
      "section",
      html(
        "div",
        html("h2", title),
        html("p", `On average ${percent(mean)} of a word’s attention moved (total variation ${mean.toFixed(2)}).`),
      ),
      this.matrix(matrix, {
        title,
        how: `Orange (+): ${base} gives more; blue (\u2212): ${other} does.`,
        what: `difference from ${other}`,
        file: `difference-of-${matrix.rows}`,
        about,
        low: -furthest,
        high: furthest,
      }),
    );
  }

  agreement({ heads, rows, values, about }) {
    const title = "How far they disagree, word by word";
    const lines = rows.map((name, i) => {
      const cells = values[i].map((value) => html("td", value?.toFixed(2)));
      return html("tr", html("th", { scope: "row" }, name), cells);
    });
    const figures = table([html("td"), heads.map((head) => html("th", { scope: "col" }, head))], lines);
    const saves = saveButtons(this, "disagreement", () => ({
      file: "disagreement",
      title: `${title} (total variation)`,
      elements: [figures],
      about,
    }));
    const how = "Total variation: 0 where both look alike, 1 where they look at different words.";
    const more =
      "Half the sum of the absolute differences of a word’s weights: the share of its weight that lies elsewhere.";
    return html(
      "section",
      html("div", heading(title, how, more, saves)),
      html("div.scroll.agree", { tabindex: "0", role: "group", "aria-label": "Total variation" }, figures),
    );
  }

  arrange() {
    for (const matrix of this.matrices) matrix.fit();
  }
}

VIEWS.compare = (root) => new CompareView(root);
