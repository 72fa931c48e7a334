// The winning n-grams: one row per filter, its parts as a strip around zero, its share in every class's logit, and the
// sums.

import { html, svg } from "../../components/create.js";
import { choice, heading, heaviest, moreButton, refill, table } from "../../components/elements.js";
import { plural, signed, the } from "../../components/wording.js";
import { recordOf, recordsOf } from "../../components/evidence.js";
import { saveButtons } from "../../components/save.js";
import { PANELS } from "../../components/view.js";

const RECORDS = ["filter_provenance", "filter_products"];
const FIRST_ROWS = 8;
const LEAST_CONTEXT = 0.001; // share of the weight; smaller contexts are not shown
const PART_TITLES = {
  left: "left neighbour",
  self: "the word itself",
  right: "right neighbour",
  context: "attentive context",
  bias: "bias",
};

// Unnamed words of a window, from light (the first) to dark (the last).
function partLook(part, parts) {
  const words = parts.filter((name) => name.startsWith("word "));
  const place = words.indexOf(part);
  if (place < 0) return { class: `part-${part}` };
  return { class: "part-word", style: `--share:${words.length > 1 ? (100 * place) / (words.length - 1) : 0}%` };
}

class FilterPanel {
  /**
   * @param {import("../../components/pair.js").PairView} view
   * @param {ReturnType<typeof filtersOf>} record
   */
  constructor(view, record) {
    this.view = view;
    this.record = record;
    this.classes = this.record.shares ? view.data.verdict.classes : [];
    this.sides = this.record.sides.map((side) => this.read(side));
    this.side = this.sides[0];
    this.mode = "word";
    this.room = "wide";
    this.open = false;
    this.whose = html("div.whose.soft.wraps", { role: "group", "aria-label": "Filters that read the" });
    this.choices = html("div.choices.wraps", { role: "group", "aria-label": "Which filters" });
    this.table = html("div.scroll", { tabindex: "-1" });
    const saves = saveButtons(view, "filters", () => this.saved());
    this.element = html(
      "section.filters.listing",
      { "aria-label": "What won the filters" },
      heading("What won the filters", this.how(), this.more(), saves),
      this.whose,
      this.choices,
      this.table,
    );
  }

  // The filters of one side. `axis`: the name of a selected word of this side.
  read(side) {
    const sentence = this.view.sideOf(side.role);
    const { filters } = side;
    const context = recordOf(this.view.data.explanation, "attentive_context", ({ rows }) => rows === side.role);
    return {
      ...side,
      context,
      tokens: sentence.tokens,
      axis: sentence.axis,
      used: side.parts.filter((_, i) => filters.some((f) => f.parts[i] !== 0)),
    };
  }

  get all() {
    return this.side.filters;
  }

  get row() {
    return this.view.selection[this.side.axis];
  }

  how() {
    const [side, other] = this.sides;
    const alone = this.record.shares && !other && !side.context && !side.made_from && !this.record.rest.length;
    const lines = side.wins.length
      ? ` Filters won: ${side.wins.map((count, line) => `${count} with line ${line + 1}`).join(", ")}.`
      : "";
    return `${alone ? `This model reads ${the(side.role)} alone. ` : ""}Max-pooling keeps one n-gram a filter. The strip splits its value before the ${side.activation} into parts: right of the line raises it, left lowers it.${lines}`;
  }

  more() {
    const { activation, parts, context } = this.sides[0];
    const words = parts.includes("left") ? "left + self + right" : `The ${parts.length - 2} words of the n-gram`;
    const sum = `${words}${context ? " + attentive context" : ""} + bias add up to the value before the ${activation}. `;
    if (!this.record.shares)
      return `${sum}This model’s classifier reads how the windows of both texts match as well as the filters’ values, so a logit cannot be split into shares of filters.`;
    const products = this.record.rest.length ? " with the products of both texts’ filters" : "";
    return (
      `${sum}The ${activation} of it times the classifier’s weight is the filter’s share in each class’s logit; the shares of all filters${products} and the class’s bias add up to the logit, ` +
      "and the softmax of the logits is the verdict. A filter pushes towards the class whose share stands highest above the mean of its shares."
    );
  }

  push(filter) {
    const mean = filter.shares.reduce((a, b) => a + b, 0) / filter.shares.length;
    return filter.shares.map((share) => share - mean);
  }

  // The filters of the selected list, strongest first.
  listed() {
    const strength = (f) => (this.classes.length ? Math.max(...this.push(f)) : f.activation);
    if (this.mode === "word" && this.row !== null)
      return this.all.filter((f) => f.position === this.row).sort((a, b) => strength(b) - strength(a));
    if (!this.classes.length) return [...this.all].sort((a, b) => b.pre - a.pre);
    const c = this.mode === "word" ? this.verdictIndex() : Number(this.mode);
    return [...this.all].sort((a, b) => this.push(b)[c] - this.push(a)[c]);
  }

  verdictIndex() {
    return this.classes.findIndex((k) => k.label === this.view.data.verdict.label);
  }

  // A button that makes `value` this panel's side or mode. It also deselects the sentence's word: otherwise the panel
  // would follow that selection.
  choice(what, value, ...label) {
    const choose = () => {
      this.view.explicit = true;
      this[what] = value;
      this.open = false;
      this.draw();
    };
    return choice(this[what] === value, choose, ...label);
  }

  drawWhose() {
    const { made_from } = this.side;
    this.whose.hidden = this.sides.length < 2;
    refill(
      this.whose,
      html("span", "Filters that read the"),
      this.sides.map((side) => this.choice("side", side, side.role)),
      html("span", made_from ? `They are made from ${the(made_from)}.` : "They are the same for every text."),
    );
  }

  drawChoices() {
    const won = this.all.filter((f) => f.position === this.row).length;
    const word = html("bdi.selected", this.side.tokens[this.row]);
    refill(
      this.choices,
      this.row === null ? null : this.choice("mode", "word", "Won by ", word, ` (${won})`),
      this.classes.length
        ? this.classes.map((k, i) => this.choice("mode", String(i), "Strongest towards ", this.swatch(k), k.label))
        : this.choice("mode", "all", "Strongest"),
    );
  }

  swatch(k) {
    return html("i.swatch", { style: `background:light-dark(${k.light},${k.dark})` });
  }

  // In narrow windows the strip is below its n-gram, and on a phone the numbers next to the shares make room for its
  // parts: nothing is cut off at the right, least of all the line that ends in the logit.
  fit(width) {
    const room = width < 500 * this.view.type ? "phone" : width < 900 * this.view.type ? "narrow" : "wide";
    if (room === this.room) return;
    this.room = room;
    this.draw();
  }

  // A newly selected word shows the filters of its side, and those that it won.
  follow() {
    const { row, column } = this.view.selection;
    const moved = this.followed !== `${row} ${column}`;
    this.followed = `${row} ${column}`;
    if (moved && this.row === null)
      this.side = this.sides.find((side) => this.view.selection[side.axis] !== null) || this.side;
    if (this.row === null && this.mode === "word")
      this.mode = this.classes.length ? String(this.verdictIndex()) : "all";
    else if (this.row !== null && this.row !== this.lastRow) this.mode = "word";
    this.lastRow = this.row;
  }

  draw() {
    this.follow();
    this.drawWhose();
    this.drawChoices();
    const listed = this.listed();
    const shown = this.open ? listed : listed.slice(0, FIRST_ROWS);
    this.shown = shown;
    if (!listed.length) {
      this.table.replaceChildren(
        html(
          "p.empty",
          "No filter’s winning n-gram is centred on this word: select another word, or look at the strongest filters.",
        ),
      );
      return;
    }
    const columns = this.columns(this.scale(shown));
    this.across = columns.length;
    const head = [
      columns.map(({ name, number }) => html("th", { scope: "col", class: number && "number" }, name)),
      this.classes.map((k) =>
        html("th.number", { scope: "col" }, this.swatch(k), this.room === "phone" ? html("br") : null, k.label),
      ),
    ];
    const lines = shown.map((f) =>
      html(
        "tr",
        { class: f.position === this.row && this.mode !== "word" && "on" },
        columns.map(({ cell }) => cell(f)),
        f.shares.map((share, i) => this.number(share, i === heaviest(f.shares) && "best")),
      ),
    );
    refill(
      this.table,
      table(head, lines, this.classes.length ? this.sums(listed) : null),
      this.partsLegend(),
      moreButton(this, listed.length, FIRST_ROWS, "filters"),
    );
  }

  // The columns before the shares, as far as they fit.
  columns(scale) {
    const [wide, phone] = [this.room === "wide", this.room === "phone"];
    const { activation, context } = this.side;
    const strip = (f) => this.strip(f, scale, phone ? 124 : 190);
    const ngram = (f) => {
      const pick = () => this.view.pick({ [this.side.axis]: f.position });
      const words = html("button", { dir: "auto", title: `Filter ${f.index}`, onclick: pick }, this.ngram(f));
      return html("td.ngram", words, wide ? null : strip(f));
    };
    return [
      !phone && { name: "filter no.", cell: (f) => html("td", f.index) },
      { name: wide ? "winning n-gram" : "winning n-gram and its parts", cell: ngram },
      context && wide && { name: "with context", cell: (f) => html("td", { dir: "auto" }, this.contextWords(f)) },
      wide && { name: "parts", cell: (f) => html("td", strip(f)) },
      !phone && { name: "sum", number: true, cell: (f) => this.number(f.pre) },
      !phone && { name: activation, number: true, cell: (f) => this.number(f.activation) },
    ].filter(Boolean);
  }

  number(value, look) {
    return html("td.number", { class: look, title: String(value) }, signed(value, this.room === "phone" ? 2 : 3));
  }

  scale(filters) {
    const reach = filters.flatMap((f) =>
      [1, -1].map((sign) => f.parts.reduce((sum, p) => sum + Math.max(0, sign * p), 0)),
    );
    return Math.max(...reach, 1e-6);
  }

  ngram(f) {
    const [first, end] = f.window;
    return this.side.tokens
      .slice(first, end)
      .map((word, i) => [i ? " " : null, first + i === f.position ? html("b", word) : word]);
  }

  // The two heaviest words of the attentive context of the winning n-gram; of several contexts, the one that it won
  // with.
  contextWords(f) {
    const { columns, weights } = this.side.context;
    const row = weights[f.position];
    const { tokens, lines } = this.view.sideOf(columns);
    const [first, end] = f.beside === null ? [0, row.length] : [lines[f.beside], lines[f.beside + 1] ?? row.length];
    const order = row
      .map((_, j) => j)
      .slice(first, end)
      .sort((a, b) => row[b] - row[a])
      .slice(0, 2)
      .filter((j, place) => place === 0 || row[j] >= LEAST_CONTEXT);
    return order.map((j) => tokens[j]).join(", ") + (f.beside === null ? "" : ` (line ${f.beside + 1})`);
  }

  // A part's name in words: for a part of a whole window, the word itself.
  named(part, f) {
    const place = this.side.parts.indexOf(part);
    const whole = f.window[1] - f.window[0] === this.side.parts.length - 2;
    return part.startsWith("word ") && whole ? `${this.side.tokens[f.window[0] + place]} (${part})` : part;
  }

  // Parts right of the middle line raise the value, parts left of it lower it.
  strip(f, scale, width = 190) {
    const middle = width / 2;
    const unit = (middle - 2) / scale;
    const ends = { right: middle, left: middle };
    const order = this.side.parts.map((name, i) => [name, f.parts[i]]).filter(([, value]) => value !== 0);
    const text = this.side.used
      .map((name) => `${this.named(name, f)} ${signed(f.parts[this.side.parts.indexOf(name)])}`)
      .join(", ");
    const pieces = order.map(([name, value]) => {
      const size = Math.abs(value) * unit;
      const x = value > 0 ? ends.right : ends.left - size;
      if (value > 0) ends.right += size;
      else ends.left -= size;
      return svg(
        "rect",
        {
          ...partLook(name, this.side.parts),
          x: x.toFixed(2),
          y: 3,
          width: Math.max(0.5, size - 0.6).toFixed(2),
          height: 10,
        },
        svg("title", `${this.named(name, f)} ${signed(value, 4)}`),
      );
    });
    const at = middle + f.pre * unit;
    return svg(
      "svg.strip",
      { width, height: 16, role: "img", "aria-label": text },
      pieces,
      svg("line.zero", { x1: middle, x2: middle, y1: 0, y2: 16 }),
      svg("line.total", { x1: at, x2: at, y1: 1, y2: 15 }),
    );
  }

  // Each part's name in the legend; for a window's words, the first and last are enough.
  partTitle(part) {
    const words = this.side.parts.filter((name) => name.startsWith("word "));
    if (part === words[0]) return "first";
    if (part === words.at(-1)) return "last word of the n-gram";
    return words.includes(part) ? "" : PART_TITLES[part];
  }

  partsLegend() {
    return html(
      "div.legend.small.controls.parts",
      this.side.used.map((name) =>
        html(
          "span",
          svg(
            "svg",
            { width: 12, height: 10 },
            svg("rect", { ...partLook(name, this.side.parts), width: 11, height: 9, x: 0.5, y: 0.5 }),
          ),
          this.partTitle(name),
        ),
      ),
      html(
        "span",
        svg("svg", { width: 8, height: 12 }, svg("line.total", { x1: 4, x2: 4, y1: 0, y2: 12 })),
        "their sum",
      ),
    );
  }

  // Rows showing that the shares add up to the logits.
  sums(listed) {
    const sum = (filters) => this.classes.map((_, c) => filters.reduce((all, f) => all + f.shares[c], 0));
    const left = this.all.filter((f) => !listed.includes(f));
    const others = this.sides.filter((side) => side !== this.side);
    const over = (side) => `all ${side.filters.length} filters over ${the(side.role)}`;
    const all = others.length ? over(this.side) : `all ${this.all.length} filters`;
    const line = (label, values, kind) =>
      html(
        "tr",
        { class: kind },
        html("th.soft", { scope: "row", colspan: this.across }, label),
        values.map((value) => this.number(value)),
      );
    return [
      left.length
        ? line(`${plural(listed.length, "filter", "filters")} of this list`, sum(listed))
        : line(all, sum(this.all)),
      left.length > 0 && line(`the other ${left.length}`, sum(left)),
      others.map((side) => line(over(side), sum(side.filters))),
      this.record.rest.map(([label, values]) => line(label, values)),
      line("the classifier’s bias", this.record.bias),
      line("= logit", this.record.logits, "logit"),
    ];
  }

  // A description of the current list.
  listTitle() {
    const { length } = this.listed();
    const of = `${this.shown.length} of ${length}`;
    if (this.mode === "word") return `won by “${this.side.tokens[this.row]}” (${of})`;
    return this.classes.length
      ? `strongest towards ${this.classes[Number(this.mode)].label} (${of})`
      : `strongest (${of})`;
  }

  saved() {
    const list = this.mode === "word" ? `word-${this.row + 1}` : this.classes[this.mode]?.label || "strongest";
    return {
      file: `filters-of-${this.side.role}-${list}`.replace(/\s+/g, "-"),
      title: `What won the filters that read ${the(this.side.role)}: ${this.listTitle()}`,
      elements: [this.table],
    };
  }
}

const NAMED = { 1: ["self"], 3: ["left", "self", "right"] }; // words of a window, by its width
const total = (rows, c) => rows.reduce((sum, row) => sum + row[c], 0);

/**
 * A side's filters with the names of their parts; `wins`: the number of wins per line of a text with several lines.
 * @param {import("../../components/payloads").FilterProvenance} record
 */
function sideOf({ rows, made_from, activation, width, contexts, filters }) {
  const near = NAMED[width] ?? Array.from({ length: width }, (_, i) => `word ${i + 1}`);
  const won = filters.map(({ beside }) => beside).filter((line) => line !== null);
  return {
    role: rows,
    made_from,
    activation,
    parts: [...near, "context", "bias"],
    wins: won.length ? Array.from({ length: contexts }, (_, line) => won.filter((of) => of === line).length) : [],
    filters: filters.map(({ offsets, context, bias, preactivation, logit_shares, ...filter }) => ({
      ...filter,
      parts: [...offsets, context, bias],
      pre: preactivation,
      shares: logit_shares,
    })),
  };
}

/**
 * The winning n-grams of the drawn explanation's filters, which the page omits because of their size.
 * @param {import("../../components/pair.js").PairView} view
 */
export function askFilters(view) {
  const answer = view.answer("explain", "Looking for what won the filters …", "what won the filters", "filters");
  view.question("filters", { records: RECORDS }, view.data.why.shown);
  return answer;
}

// The panel's place, before and after the answer.
class FilterPlace {
  constructor(view) {
    this.view = view;
    this.element = html("div");
  }

  draw() {
    const { element, value } = askFilters(this.view);
    if (value !== this.value) {
      this.value = value;
      this.panel = value && new FilterPanel(this.view, filtersOf(value.evidence, value));
      refill(this.element, this.panel ? this.panel.element : element);
      this.panel?.fit(this.view.root.clientWidth);
    }
    this.panel?.draw();
  }

  fit(width) {
    this.panel?.fit(width);
  }
}

/**
 * All sides with filters, the judged one first, and the other terms of the logits (`rest`), by name.
 * @param {import("../../components/evidence.js").EvidenceRecord[]} records
 * @param {{ logits: number[] }} explanation
 */
export function filtersOf(records, { logits }) {
  const sides = recordsOf(records, "filter_provenance");
  const [products] = recordsOf(records, "filter_products");
  /** @type {[string, number[]][]} */
  const rest = products && [
    ["products of both texts’ filters", logits.map((_, c) => total(products.products, c))],
    ["linguistic features", products.linguistic],
  ];
  return {
    sides: sides.map(sideOf),
    shares: sides.every(({ filters }) => filters[0].logit_shares.length > 0),
    rest: (rest ?? []).filter(([, shares]) => shares.some((share) => share)),
    bias: sides[0]?.logit_bias,
    logits,
  };
}

PANELS.filter_provenance = {
  place: "details",
  read: (records) => recordsOf(records, "filter_provenance").slice(0, 1),
  make: (view) => new FilterPlace(view),
};
