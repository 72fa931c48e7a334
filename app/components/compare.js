// Compare: models, or versions of a pair, each drawn as in the pair's view, with one common scale; where they differ.

import { AttentionMatrix } from "../panels/attention_map/attention.js";
import { withValues } from "../panels/attention_map/cells.js";
import { aloneIn } from "../panels/attention_map/matrix.js";
import { wordMap } from "../panels/attention_map/records.js";
import { SCALE } from "../panels/attention_map/signed.js";
import { barOf, factsOf, rangeOf, wordOf } from "../panels/effects/bars.js";
import { barsOf } from "../panels/effects/records.js";
import { differenceLook } from "./colours.js";
import { difference, incomparable, mostDifferent, movedBy, moveOf, verdictsOf } from "./differences.js";
import { html, svg } from "./create.js";
import { heading, refill, table } from "./elements.js";
import { capital, percent, signed, the } from "./wording.js";
import { isWordMap, sentences } from "./evidence.js";
import { PairView } from "./pair.js";
import { saveButtons } from "./save.js";
import { Carried } from "./routes.js";
import { VIEWS, View } from "./view.js";

const NUMBERED = { most: 36, least: 22 }; // cells that hold a number
const PROJECTED_NUMBERS = { most: 64, least: 40 };
const STEPS = 100; // of a scale, so that equal cells are drawn together
const MANY = 2500; // cells; above it no numbers are drawn, and one shape per colour

const largestEffect = (words) => Math.max(1e-9, ...words.map(({ effect }) => Math.abs(effect ?? 0)));

// The caption of a combined figure: shared sentences appear once, then all verdicts.
function aboutOf(columns) {
  const each = columns.map(({ data }) => data.about);
  return { file: `${each[0].file}-compared`, lines: [...new Set(each.flatMap(({ lines }) => lines))] };
}

// A matrix next to others: numbers in its cells, one scale for all.
class ComparedMatrix extends AttentionMatrix {
  constructor(view, attention) {
    super(view, { high: view.compare.high, ...attention, absent: view.compare.absent });
    if (!this.dense) return;
    for (const name of ["aria-rowcount", "aria-colcount"]) this.frame.removeAttribute(name);
    this.frame.setAttribute("role", "img");
    this.frame.tabIndex = 0;
  }

  get dense() {
    return this.rows.length * this.count > MANY;
  }

  get sizes() {
    return this.dense ? super.sizes : this.view.type > 1 ? PROJECTED_NUMBERS : NUMBERED;
  }

  get unit() {
    return "percentages";
  }

  get labels() {
    const { rows, columns, of } = this.attention;
    const reach = this.dense ? "." : "; with the keyboard, Tab to the matrix, move with the arrow keys, Home and End.";
    const more = `Rows are ${the(rows)}, columns ${the(columns)}; the numbers are ${this.unit}. Point at a cell for its exact value${reach}`;
    const how = `${of ? `${capital(of)}. ` : ""}Brighter cell: more weight.`; // one line in every column
    return { ...super.labels, how, more, what: `matrix of ${this.view.title}` };
  }

  /** @returns {import("../panels/attention_map/matrix.js").Scale} */
  get scale() {
    return ["weight, one scale for all", "0\u00a0%", percent(this.attention.high)];
  }

  // In large matrices all cells of a colour are one shape.
  cellRows() {
    if (!this.dense) return super.cellRows();
    const side = this.cell - 1;
    const cells = this.rows.flatMap((_, i) => this.places.map((j) => [i, j]));
    const step = this.attention.high / STEPS;
    const equal = Map.groupBy(cells, ([i, j]) => Math.round(this.number("values", i, j) / step));
    const shape = ([i, j]) => `M${this.x(j)} ${i * this.cell}h${side}v${side}h${-side}z`;
    return svg(
      "g",
      Array.from(equal, ([steps, same]) =>
        svg("path", { fill: this.colour(steps * step), d: same.map(shape).join("") }),
      ),
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

  written(value) {
    return this.dense ? null : (100 * value).toFixed(0);
  }
}

// One attention matrix minus another, in percentage points.
class DifferenceMatrix extends ComparedMatrix {
  get unit() {
    return "percentage points";
  }

  get labels() {
    const { base, other } = this.view;
    return {
      ...super.labels,
      title: `${base} minus ${other}`,
      headed: "",
      how: `Orange (+): ${base} gives more; blue (\u2212): ${other} does.`,
      what: `difference from ${other}`,
      file: `difference-of-${this.attention.rows}-from-${other.replace(/\W+/g, "-").toLowerCase()}`,
    };
  }

  /** @returns {import("../panels/attention_map/matrix.js").Scale} */
  get scale() {
    const { high } = this.attention;
    const end = (100 * high).toFixed(high < 0.1 ? 1 : 0);
    return [`difference, ${this.unit}`, `\u2212${end}`, `+${end}`, SCALE];
  }

  points(i, j, digits) {
    return `difference ${signed(100 * this.number("weights", i, j), digits)} ${this.unit}`;
  }

  describe(i, j) {
    return `${this.rows[i]} to ${this.word(j)}: ${this.points(i, j, 1)}`;
  }

  facts(i, j) {
    return [html("span", this.points(i, j, 2))];
  }

  look(value) {
    return differenceLook(value / this.attention.high);
  }

  written(value) {
    const whole = signed(100 * value, 0);
    return this.dense || whole === "0" ? null : whole;
  }
}

// One model or version, drawn as in Explore.
class ComparedPair extends PairView {
  Matrix = ComparedMatrix;
  /** @type {Omit<import("./payloads").Section, "drawing" | "frame">} */
  section = null;
  part = 1; // its largest effect as a share of the largest in its unit
  /** @type {ReturnType<typeof rangeOf>} scale of all effects in its unit */
  range = null;

  constructor(compare) {
    super(html("section.pairlens"));
    this.compare = compare;
    this.why = this.answer("why", "Computing …", "word effects");
    this.because = this.answer("reason", "", "the reason");
    const looking = "Looking for what carries the difference …";
    this.carried = new Carried(this.answer("routes", looking, "what carries the difference"));
  }

  get title() {
    return this.section.title;
  }

  // Inside a sentence.
  get name() {
    return this.compare.data.versions ? this.title.toLowerCase() : this.title;
  }

  get followed() {
    return this.section.followed;
  }

  // The comparison selects a word in all columns.
  choose() {}

  send() {}

  arrived() {
    this.compare.drawAnswer();
  }

  get bars() {
    return this.effects && barsOf(this.effects, this.effects.method);
  }

  // The effect as a share of the largest effect in the comparison.
  effectOf(role, index) {
    const own = super.effectOf(role, index);
    return own && { ...own, share: own.share * this.part };
  }

  // Every word with its effect, also as points of probability or of the score; shared words have one key.
  get words() {
    const { bars, effects, title, section } = this;
    const dropped = effects && barsOf(effects, "dropped"); // what "without it" means in the sentence above, as in Explore
    const texts = sentences(this.data.explanation);
    const named = (this.because.value?.named ?? []).map(([text, index]) => `${texts[text].role} ${index}`);
    return this.readSides.flatMap(({ role, axis, tokens }) => {
      const first = new Map(section.same[role].map(([place, own]) => [own, place]));
      return tokens.map((text, index) => {
        const word = wordOf(text, index, bars?.[role]?.[index]);
        const moved = effects && movedBy(dropped?.[role]?.[index], effects);
        const key = `${role} ${first.get(index) ?? `${title} ${index}`}`;
        return { ...word, role, axis, moved, named: named.includes(`${role} ${index}`), key };
      });
    });
  }

  // Its attention, if these words have some, as shares of a word's total weight.
  get attention() {
    const [map] = this.data.maps;
    return map && { ...map, lines: map.apart ? this.sideOf(map.columns).lines.length : 1 };
  }

  // The positions of this role's shared words in each of the two.
  places(other, role) {
    const own = new Map(this.section.same[role]);
    return (other.section.same[role] ?? []).flatMap(([first, place]) =>
      own.has(first) ? [[own.get(first), place]] : [],
    );
  }

  minus(other) {
    const { rows: row, columns: column } = this.attention;
    const [rows, columns] = [row, column].map((role) => this.places(other, role));
    return { base: this, other, rows, columns, ...difference(this.attention, other.attention, rows, columns) };
  }

  build() {
    const parts = super.build();
    for (const part of parts) if (part.ariaLabel) part.ariaLabel = `${this.title}: ${part.ariaLabel}`;
    const attends = this.panels.some(({ ribbons, barOf }) => ribbons || barOf);
    return [
      html("h2", this.title),
      ...parts,
      attends ? null : html("p.empty", "It shows no attention for these words."),
    ];
  }
}

/** @extends {View<import("./payloads").Drawn["compare"]>} */
class CompareView extends View {
  static crowded = true;

  /** @type {ComparedPair[]} */
  columns = [];
  verdicts = html("p");
  largest = html("p");
  carried = html("div"); // by which parts of the model the difference between two versions travels
  answer = html("div.answer", { "aria-live": "polite" }, this.verdicts, this.carried, this.largest);
  words = html("section.effects");
  /** @type {import("../panels/attention_map/records.js").WordMap["none"]} the column for no word, if a matrix has one */
  absent = null;

  start() {
    super.start();
    for (const column of this.columns) column.start();
  }

  end() {
    super.end();
    for (const column of this.columns) column.end();
  }

  build() {
    const { sections } = this.data;
    const shown = sections.filter(({ problem }) => !problem);
    const records = shown.flatMap(({ drawing }) => drawing.explanation.evidence.filter(isWordMap));
    const maps = records.map((record) => wordMap(record, "weight"));
    this.high = Math.max(0.01, ...maps.map((map) => withValues(map).high)); // of one scale for all
    const absent = maps.flatMap(({ none }) => none ?? []);
    [this.absent] = absent.sort((one, other) => other.word.length - one.word.length);
    for (const column of this.columns.splice(shown.length)) column.end();
    shown.forEach((section, number) => this.column(section, number));
    const [base, ...others] = this.columns.filter(({ attention }) => attention);
    this.compared = others
      .map((other) => base.minus(other))
      .filter(({ rows, columns }) => rows.length && columns.length);
    refill(this.verdicts, verdictsOf(this.columns.map(({ name, data }) => ({ name, ...data.verdict }))));
    const drawn = sections.map((one) =>
      one.problem
        ? html("section", html("h2", one.title), html("p", one.problem))
        : this.columns[shown.indexOf(one)].root,
    );
    const differences = this.differences(others.length);
    if (this.data.versions && this.columns.length > 1) this.mark();
    this.divide();
    this.drawAnswer();
    const below = this.columns.length > 0 && html("div.columns", this.words, differences);
    return [this.answer, html("div.columns.compared", drawn), below];
  }

  /** @param {import("./payloads").Section} section @param {number} number */
  column({ drawing, frame, ...section }, number) {
    this.columns[number] ??= new ComparedPair(this);
    const column = this.columns[number];
    column.start();
    column.section = section;
    const { question } = section;
    const unselected = { selection: null, direction: null, asked: {} };
    column.update({ ...drawing, ...frame, ...unselected, drawing: this.data.drawing });
    for (const name of ["why", "reason"]) column.question(name, {}, question);
  }

  // The first version's model divides its difference to the second.
  divide() {
    const [base, other] = this.columns;
    if (!base) return;
    const { first, second } = other?.section.question ?? {};
    const divided = this.data.versions && other && !this.same;
    base.question("routes", divided ? { other: { first, second } } : null, base.section.question);
  }

  drawCarried() {
    const [base] = this.columns;
    base?.carried.draw(this, aboutOf(this.columns));
    if (base?.carried.element !== this.carried.firstChild) refill(this.carried, base?.carried.element);
  }

  // Words that only one of the versions contains.
  mark() {
    for (const column of this.columns) {
      const others = this.columns.filter((one) => one !== column);
      const keys = new Set(others.flatMap(({ words }) => words.map(({ key }) => key)));
      for (const { axis, index, key } of column.words)
        for (const chip of column.root.querySelectorAll(`.chip[data-axis="${axis}"][data-index="${index}"]`))
          chip.classList.toggle("changed", !keys.has(key));
    }
  }

  // Called when word effects or reasons arrive: once all are there, the word on which they differ is named, and
  // selected if nothing else is.
  drawAnswer() {
    const { columns } = this;
    this.drawCarried();
    const known = columns.filter(({ effects }) => effects);
    const units = new Set(known.map(({ effects: { unit, method } }) => `${unit} ${method}`));
    const complete =
      known.length > 1 && columns.every(({ why, because }) => ![why.state, because.state].includes("working"));
    if (this.same) {
      refill(this.largest, "Both versions are the same: edit one.");
      for (const column of columns) column.draw();
      this.drawWords();
      return;
    }
    const most = complete && units.size === 1 ? mostDifferent(known.map(({ words }) => words)) : null;
    refill(this.largest, complete && (most ? this.named(known, most) : incomparable(known, units.size)));
    for (const column of columns) {
      const words = known.flatMap((one) => (one.effects.unit === column.effects?.unit ? one.words : []));
      column.range = rangeOf(words, column.effects);
      column.part = largestEffect(column.words) / largestEffect(words);
    }
    known.forEach((column, i) => {
      if (most && !column.explicit) column.selection = { row: null, column: null, [most[i].axis]: most[i].index };
    });
    for (const column of columns) column.draw();
    this.drawWords();
  }

  // Whether two versions have the same texts.
  get same() {
    const texts = this.columns.map(({ data }) => sentences(data.explanation).map(({ text }) => text.trim()));
    return this.data.versions && new Set(texts.map((both) => JSON.stringify(both))).size === 1 && texts.length > 1;
  }

  // The same for saved figures.
  get conclusion() {
    return this.largest.textContent;
  }

  named(known, most) {
    const [{ text, role }] = most;
    const subject = this.data.versions ? "Of the words in both, they" : "They";
    const lead = `${subject} differ ${most.some(({ named }) => named) ? "" : "most "}on `;
    const moves = known.map((column, i) => moveOf(column, most[i])).join(", ");
    return [lead, html("b", html("bdi", text)), ` (${role}): without it, ${moves}.`];
  }

  // One line per word: its effect on each verdict, on one scale, and the share of its attention that moved.
  drawWords() {
    const { columns, compared } = this;
    const wordsOf = new Map(columns.map((column) => [column, column.words]));
    const words = new Map([...wordsOf.values()].flat().map((word) => [word.key, word]));
    const effect = (column, key) => {
      const word = wordsOf.get(column).find((one) => one.key === key);
      const title = word && factsOf(word, column.effects, column.followed);
      return html("td", { title }, word && barOf(word, column.range));
    };
    const moved = ({ base, rows, variation }, { key, role }) => {
      const word = role === base.attention.rows && wordsOf.get(base).find((one) => one.key === key);
      return variation[rows.findIndex(([own]) => own === word?.index)]?.toFixed(2);
    };
    const line = (word) => [
      html("th", { scope: "row", dir: "auto" }, word.text),
      columns.map((column) => effect(column, word.key)),
      compared.map((one) => html("td.number", moved(one, word))),
    ];
    const lines = Array.from(
      Map.groupBy(words.values(), ({ role }) => role),
      ([role, own]) => [
        html("td.role.soft", { colspan: 1 + columns.length + compared.length }, capital(role)),
        ...own.map(line),
      ],
    );
    const head = [
      html("td"),
      columns.map(({ title, followed, why }) => html("th", { scope: "col" }, `${title}: ${followed} `, why.element)),
      compared.map(({ other }) => html("th.number", { scope: "col" }, `attention moved in ${other.title}`)),
    ];
    const figure = table(
      head,
      lines.flat().map((cells) => html("tr", cells)),
    );
    const title = "Word by word";
    const saves = saveButtons(this, "table of words", () => ({
      file: "word-by-word",
      title,
      elements: [figure],
      about: aboutOf(columns),
    }));
    refill(
      this.words,
      heading(
        title,
        "Bar to the right, filled: the word supports the verdict; to the left, hollow: it opposes it. Attention moved: 0 same words, 1 other words.",
        "One scale for all: log p of the verdict (of a model with one output, its score) before minus after the word is removed (dropped and replaced); points in the sentence above are of the probability itself when the word is only dropped. The thin line is the spread over the replacements. Explore has the other methods and the limits of each. Attention moved is the total variation, half the sum of the absolute differences of a word’s weights: the share of its weight that moved to other words. What a transformer’s word gives to its own sentence counts, too.",
        saves,
      ),
      html("div.scroll.bar-lines.words-compared", { tabindex: "0", role: "group", "aria-label": title }, figure),
    );
  }

  // The first attention map minus each of the others.
  differences(others) {
    this.matrices = [];
    if (!others)
      return html("p.empty", "Differences are drawn where at least two of them show attention for these words.");
    if (!this.compared.length)
      return html("p.empty", "The two have no word in common whose attention could be compared.");
    const weights = this.compared.flatMap(({ weights, none }) => [...weights, none].flat());
    const high = Math.max(0.01, ...weights.map(Math.abs));
    return this.compared.map((one) => this.difference({ high, ...one }));
  }

  difference({ base, other, rows, columns, weights, none, variation, high }) {
    const [one, two] = [base.attention, other.attention];
    const tokens = [
      [one.rows, rows],
      [one.columns, columns],
    ].map(([role, places]) => places.map(([place]) => base.sideOf(role).tokens[place]));
    const words = new Set([one, two].flatMap((map) => map.none?.word ?? []));
    const [word] = [...words].sort((a, b) => a.length - b.length); // both names would be too long for a column
    const names = { base: base.title, other: other.title.replace(/^The other version$/, "the other") };
    const view = aloneIn(
      this,
      tokens,
      one.rows,
      () => {
        matrix.draw();
        matrix.reveal();
      },
      { about: aboutOf([base, other]) },
    );
    const map = { ...one, high, weights, none: word ? { word, weights: none } : null };
    const matrix = new DifferenceMatrix(Object.assign(view, { compare: this, ...names }), map);
    matrix.element.classList.add("attention_map"); // for its style
    this.matrices.push(matrix);
    const mean = variation.reduce((sum, value) => sum + value, 0) / variation.length;
    const said = `On average ${percent(mean)} of a word’s attention moved (total variation ${mean.toFixed(2)}).`;
    return html(
      "section.difference",
      html("h2", `${names.base} minus ${names.other}`),
      html("p", said),
      matrix.element,
    );
  }

  arrange() {
    for (const matrix of this.matrices) matrix.fit(0); // as wide as its container
  }
}

VIEWS.compare = (root) => new CompareView(root);
