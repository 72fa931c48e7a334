// Both sentences as clickable words, and the ribbons between them (AttConv, figure 6: wider means more weight).

import { WordChips, clipLines } from "./chips.js";
import { missingRibbons, routeOf, rowsOf } from "./ribbon_paths.js";
import { html, svg } from "./create.js";
import { LONG, heading, heaviest, refill } from "./elements.js";
import { capital, percent, plural, the } from "./wording.js";
import { attempt } from "./panel.js";
import { saveButtons } from "./save.js";

const RIBBON_WIDTH = 14;
const WRAPPED_WIDTH = 8; // for ribbons that run between two lines of words
const CROWDED = 25; // words of a sentence; above it only the selected word's ribbons are drawn
const LINES = 4; // visible lines of a long sentence; the others scroll

const NAMED = 4; // listed words that cross a word
// Whether the ribbon from word i to word j crosses the ribbon of another word that looks across word i.
const crosses = ({ crossed, weights }, i, j) =>
  Boolean(crossed?.[i].some((k) => (i - k) * (j - heaviest(weights[k])) < 0));

export class TextPanel {
  /**
   * @param {import("./pair.js").PairView} view
   * @param {import("./panel.js").Ribbons[]} maps weights from words of one role to words of another, drawn as ribbons
   * @param {import("./panel.js").PanelOfBars} [pooled] the panel with the words' weights in pooling
   */
  constructor(view, maps, pooled) {
    this.view = view;
    this.maps = maps;
    this.pooled = pooled;
    const { sides } = view.data;
    this.long = sides.some((side) => side.tokens.length > LONG);
    this.crowded = sides.some((side) => side.tokens.length > CROWDED);
    this.words = sides.map(
      (side) =>
        new WordChips(view, side, {
          hover: (index) => this.hover(index === null ? null : { [side.axis]: index }),
          describe: (index) => this.described(side, index),
          inside: (index) => pooled && attempt(pooled, () => pooled.barOf(side.role, index)),
        }),
    );
    this.svg = svg("svg.ribbons", { "aria-hidden": "true" });
    this.stage = html(
      "div.stage",
      { class: maps.length ? null : "bare" },
      this.svg,
      sides.map((side, i) =>
        html(
          "div.side.labelled",
          { class: side.read ? null : "unread", "data-role": side.role },
          html("span.role.soft", html("span", capital(side.role)), side.read ? null : html("small.tiny", "not read")),
          this.words[i].element,
          this.words[i].cut,
        ),
      ),
    );
    for (const { element } of this.words) element.addEventListener("scroll", () => this.drawRibbons());
    this.missing = html("p.missing.soft", { hidden: true });
    this.foot = html("div.foot");
    this.element = html(
      "section.text",
      { class: this.long && "long", "aria-label": "Sentences" },
      this.stage,
      this.missing,
      this.foot,
    );
  }

  // Weights that are being tried out.
  follows({ rows, columns, weights }) {
    for (const map of this.maps) if (map.rows === rows && map.columns === columns) map.weights = weights;
    this.drawRibbons();
  }

  // For the map in the page's direction.
  get ribbons() {
    return this.maps.find(({ rows }) => rows === this.view.direction) || this.maps[0];
  }

  // A screen reader's description of a word: its weight on the null word, and the words that cross it.
  described(side, index) {
    const { none, crossed, crossings, of } = this.maps.find(({ rows }) => rows === side.role) ?? {};
    const { pooled } = this;
    const facts = [
      pooled && attempt(pooled, () => pooled.said(side.role, index)),
      none && `${percent(none.weights[index])} of its weight on ${of ? none.word : "no word"}`,
      crossed?.[index].length && `crossed by ${this.crossing(side, index)} (q = ${crossings[index].toFixed(2)})`,
    ].filter(Boolean);
    return facts.length ? `${side.tokens[index]}: ${facts.join(", ")}` : null;
  }

  // The words that cross a word, in a model that counts crossings.
  crossing({ role, tokens }, index) {
    const across = this.maps.find(({ rows }) => rows === role).crossed[index];
    const named = across.slice(0, NAMED).map((k) => `“${tokens[k]}”`);
    if (across.length > NAMED) named.push(plural(across.length - NAMED, "other word", "other words"));
    const last = named.pop();
    return named.length ? `${named.join(", ")} and ${last}` : last;
  }

  // The smallest weight drawn as a ribbon.
  get floor() {
    const { weights, of, high } = this.ribbons;
    // A head distributes one unit of weight over both texts.
    return of ? Math.max(0.01, 0.5 * high) : Math.max(0.08, 1.6 / weights[0].length);
  }

  drawFoot() {
    const { ribbons, view } = this;
    if (this.footed === (ribbons?.rows ?? "")) return;
    this.footed = ribbons?.rows ?? "";
    const saves = saveButtons(view, "ribbons", () => this.saved());
    refill(this.foot, heading(null, this.how(), this.more(), saves), view.answers?.get("why")?.element);
  }

  how() {
    const { ribbons, view, pooled } = this;
    const bars = pooled?.how ?? "";
    const effects = view.followed
      ? `${bars} Line under a word: its effect on “${view.followed}”, hollow against it.`
      : bars;
    if (!ribbons) return `The words as the model reads them.${effects}`;
    const { rows, columns, units, final } = ribbons;
    const who = (final ?? null) === null ? `a word of ${the(rows)}` : `${the(rows)}’s final state`;
    return units === "similarity"
      ? `Ribbon: the similarity of two words’ states (cosine); this is not attention.${effects}`
      : `Ribbon: the weight that ${who} puts on a word of ${the(columns)}.${effects}`;
  }

  more() {
    const { ribbons } = this;
    const words =
      "Use Tab to reach a sentence and the arrow keys to move along it; Escape, a second click or a click outside the words undoes a selection. A dotted line under a word: the word table does not know it, so its vector was made from its letters. ";
    const bars = this.pooled?.more ?? "";
    if (!ribbons) return bars + words;
    const both =
      this.maps.length > 1
        ? "Point at a word to see its ribbons in both directions; ribbons of words that attend to it are dashed. "
        : "";
    const q = ribbons.crossed
      ? "Outlined: a ribbon that crosses another word’s. A word is crossed by one before it that looks further to the right, or one after it that looks further to the left. With each word, the model also reads q, the share of other words whose ribbons cross its own: that shows who does what to whom. Words with little weight on words count for little. "
      : "";
    const more = `${both}Ribbons show weights of at least ${percent(this.floor)}; a selected word shows all of its ribbons from 1 %. Between sentences of more than ${CROWDED} words, only the selected word has ribbons. For sentences of several lines, ribbons are drawn between the two lines that face each other, plus all ribbons of the selected word; they run between and around the lines, never behind other words. `;
    return more + bars + q + words;
  }

  hover(focus) {
    this.hovered = focus;
    this.drawRibbons();
  }

  // Both directions of the hovered word, all of the selected word, and the strongest of every other word.
  paths() {
    const { ribbons, view } = this;
    if (!ribbons) return [];
    const focus = this.hovered || view.selection;
    const out = [];
    for (const map of this.maps) {
      const [from, to] = map.axes;
      const other = map !== ribbons;
      if (other && !this.hovered) continue;
      map.weights.forEach((row, at) =>
        row.forEach((weight, j) => {
          const i = map.final ?? at;
          const mine = other
            ? focus[from] === i || focus[to] === j
            : focus[from] === i || ((focus[from] ?? null) === null && focus[to] === j);
          const least = mine ? 0.01 : this.crowded || other ? Infinity : this.floor;
          if (weight >= least)
            out.push({
              ends: [`${from}${i}`, `${to}${j}`],
              weight,
              kind: mine ? (other ? "mine back" : "mine") : "other",
              crossing: !other && crosses(map, i, j),
            });
        }),
      );
    }
    const last = (path) => Number(path.kind !== "other");
    return out.sort((a, b) => last(a) - last(b) || b.weight - a.weight);
  }

  // Long sentences scroll inside their own frames; lines of a wrapped sentence are spaced so that ribbons fit between
  // them.
  fit() {
    this.stage.classList.remove("wrapped");
    const rows = this.words.map(({ chips }) => new Set(chips.map((chip) => chip.offsetTop)).size);
    this.wrapped = this.maps.length > 0 && rows.some((count) => count > 1);
    this.stage.classList.toggle("wrapped", this.wrapped);
    for (const words of this.words) clipLines(words, LINES);
    if (!this.seen && this.stage.offsetWidth) {
      this.seen = true;
      this.reveal();
    }
    this.drawRibbons();
  }

  drawRibbons() {
    const box = this.stage.getBoundingClientRect();
    if (!box.width) return;
    this.svg.setAttribute("width", box.width);
    this.svg.setAttribute("height", box.height);
    const ends = new Map();
    this.words.forEach(({ axis, chips, element }, above) => {
      const frame = element.getBoundingClientRect();
      const shapes = chips.map((chip) => chip.getBoundingClientRect());
      rowsOf(shapes, frame, above === 0, box).forEach((end, i) => ends.set(`${axis}${i}`, end));
    });
    const thick = (this.wrapped ? WRAPPED_WIDTH : RIBBON_WIDTH) * this.view.type;
    // Only a selected word's ribbons also run along other lines of words, next to them; the others are counted.
    const paths = this.paths();
    const shown = paths.filter(
      ({ ends: names, kind }) => kind !== "other" || names.every((name) => !ends.get(name).margin),
    );
    this.missing.hidden = !this.wrapped || this.crowded;
    this.missing.textContent = missingRibbons(paths.length - shown.length);
    this.svg.replaceChildren(
      ...shown.flatMap(({ ends: names, weight, kind, crossing }) => {
        const d = routeOf(ends.get(names[0]), ends.get(names[1]));
        const width = Math.max(1.5, weight * thick);
        // A rim in the background colour separates ribbons; crossing ones have a dark line inside it.
        const below = (name, more) =>
          svg(`path.${name}`, { d, "stroke-width": (width + more).toFixed(1), fill: "none" });
        return [
          below("rim", crossing ? 5 : 2),
          crossing ? below(`outline.of-${kind}`, 3) : [],
          svg("path", { d, class: kind, "stroke-width": width.toFixed(1), fill: "none", "data-ends": names.join(" ") }),
        ];
      }),
    );
  }

  // The selected words; for a single word, also the word with which it shares the most weight.
  get looked() {
    const looked = { ...this.view.selection };
    const { ribbons } = this;
    if (!ribbons) return looked;
    const [from, to] = ribbons.axes;
    const row =
      ribbons.weights[(ribbons.final ?? null) === null ? looked[from] : looked[from] === ribbons.final ? 0 : -1];
    if (row) looked[to] ??= heaviest(row);
    else if (looked[to] !== null)
      looked[from] ??= ribbons.final ?? heaviest(ribbons.weights.map((weights) => weights[looked[to]]));
    return looked;
  }

  // Scrolls long sentences to these words.
  reveal() {
    const { looked } = this;
    for (const { axis, chips, element } of this.words) {
      const chip = chips[looked[axis] ?? -1];
      if (!chip || element.scrollHeight <= element.clientHeight + 2) continue;
      const [at, frame] = [chip.getBoundingClientRect(), element.getBoundingClientRect()];
      if (at.top < frame.top || at.bottom > frame.bottom) element.scrollTop += at.top - frame.top - (at.height + 4);
    }
  }

  draw() {
    const { selection } = this.view;
    for (const words of this.words) words.draw();
    this.stage.classList.toggle("focused", selection.row !== null || selection.column !== null);
    this.drawFoot();
    if (this.seen) this.drawRibbons();
  }

  // Both sentences in full, however long.
  saved() {
    const { ribbons, pooled } = this;
    this.drawRibbons();
    queueMicrotask(() => this.drawRibbons());
    const elements = pooled ? [this.stage, pooled.key] : [this.stage];
    if (!ribbons) return { file: "words", title: pooled?.title ?? "The words as the model reads them", elements };
    const from = this.crowded ? "" : `, from ${Math.round(100 * this.floor)}\u00a0%`;
    const title = `Where the words of ${the(ribbons.rows)} look in ${the(ribbons.columns)}: a ribbon’s width is the weight`;
    return { file: `ribbons-of-${ribbons.rows}`, title: title + from, elements };
  }
}
