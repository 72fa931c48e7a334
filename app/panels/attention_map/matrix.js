// The attention matrix: square cells, words along both edges; a long pair scrolls inside its frame, edges fixed.

import { legend, scaleColour } from "../../components/colours.js";
import {
  capital,
  directionOf,
  exactPercent,
  gridStep,
  heading,
  heaviest,
  html,
  percent,
  refill,
  shorten,
  signed,
  svg,
  the,
} from "../../components/elements.js";
import { saveButtons } from "../../components/save.js";
import { Tip } from "../../components/tip.js";
import { PANELS } from "../../components/view.js";
import { WindowPanel } from "./windows.js";

export const CELL = { most: 36, least: 17 };
export const PROJECTED = { most: 64, least: 58 }; // 2 pixels of each lie between cells
// The numbers of the cells, which a transformer's head leaves to be made of its weights.
function withValues(attention) {
  const { weights, none, show, values } = attention;
  if (values.length) return attention;
  const shares = (column) => {
    const sum = column.reduce((all, weight) => all + weight, 0);
    return column.map((weight) => (sum > 0 ? weight / sum : 0));
  };
  if (show !== "column") return { ...attention, values: weights };
  const columns = weights[0].map((_, j) => shares(weights.map((row) => row[j])));
  return {
    ...attention,
    values: weights.map((_, i) => columns.map((column) => column[i])),
    none: none && { ...none, values: shares(none.weights) },
  };
}

const LEAN = 0.8; // of the words' height, that the last of them leans beyond its column

export class MatrixPanel {
  /**
   * @param {any} view
   * @param {any} attention of Explore a WordMap; Compare's have labels of their own beside it
   */
  constructor(view, attention) {
    this.view = view;
    this.attention = attention = withValues(attention);
    this.axes = view.axes(attention);
    this.at = [0, 0];
    const { tokens } = view.sideOf(attention.rows);
    // A final state is one row, and stands for the word that it comes after.
    this.final = attention.units === "final state" ? tokens.length - 1 : null;
    this.rows = this.final === null ? tokens : ["final state"];
    this.alike = attention.units === "similarity"; // of states: no attention
    const { tokens: columns, lines = [0] } = view.sideOf(attention.columns);
    this.columns = columns;
    this.lines = lines;
    this.several = this.lines.length > 1; // lines of a text, such as sentences of evidence
    this.none = attention.none; // the null word's column, in a model that has one
    this.mirrored = directionOf(this.columns) === "rtl";
    this.tip = new Tip();
    const { title, headed = title, how, more, what, file } = this.labels;
    this.frame = html("div.matrix.scroll", {
      role: "grid",
      "aria-label": title,
      "aria-rowcount": this.rows.length,
      "aria-colcount": this.count,
    });
    this.scrolls = html(
      "span.screen",
      { hidden: true },
      `${this.rows.length} × ${this.columns.length} words: scroll inside the frame`,
    );
    const key = legend(...this.scale);
    key.append(this.scrolls);
    if (this.agreement) key.append(html("span", this.agreement));
    this.signs = html("span", { hidden: true }, "ring: much weight, little effect; diamond: the other way round");
    key.append(this.signs);
    if (attention.stays) key.append(html("span.stays", attention.stays));
    const saves = saveButtons(view, what, () => ({ file, title, elements: [this.frame, key] }));
    this.element = html(
      "section.attention",
      { "aria-label": title },
      heading(this.changed ? `${headed} (what if: ${this.changed})` : headed, how, more, [this.others, saves]),
      this.frame,
      key,
      this.tip.element,
    );
    this.listen();
  }

  // What it is, how to read it (one line, and more on demand), and what is saved under which name.
  get labels() {
    const { rows, columns, apart, show, of, stays } = this.attention;
    const how = {
      weight: this.alike
        ? "Brighter cell: the two words’ states are more alike (cosine). The model reads each text by itself: this is no attention. Click a cell or a word to follow it."
        : `${of ? `${capital(of)}. ` : ""}Brighter cell: more weight. ${this.sums}. Click a cell or a word to follow it.`,
      score: "Brighter cell: higher score, before the softmax of the row. Click a cell or a word to follow it.",
      column:
        "Not what the model used: its weights, rescaled so that each column adds up to 1. Brighter cell: larger share of that column.",
    };
    const { judged } = this.view.sideOf(rows);
    const more = [
      this.final === null
        ? `Rows are ${the(rows)}${judged ? ", the sentence that is judged" : ""}`
        : `The row is the state after the last word of ${the(rows)}, the only one that looks back`,
      `; columns ${the(columns)}${judged ? ", its context" : ""}. `,
      this.several &&
        `Numbered blocks of columns are its lines${apart ? ": the model reads each of them by itself" : ""}. `,
      `The colour scale runs to the largest ${of ? "weight on a word" : "value of this pair"}. `,
      stays &&
        `A word’s pieces are looked at together (their weights are added up) and look together (theirs are averaged). The last column is what goes to pieces that belong to no word, such as [CLS] and [SEP]${this.attention.none ? ": often most of it" : ""}. `,
      this.none &&
        !of &&
        `The last column is the null word, a vector that the model learnt for a word without a counterpart in ${the(columns)}; with it a row adds up to 1. `,
      "Point at a cell for its exact values; with the keyboard, Tab to the matrix, move with the arrow keys, Home and End.",
    ];
    return {
      title: this.title(),
      how: how[show],
      more: more.filter(Boolean).join(""),
      what: "matrix",
      file: `attention-of-${rows}${show === "weight" ? "" : `-${show}`}`,
    };
  }

  // What a row adds up to: changed by hand, the rest of it may have been kept.
  get sums() {
    const { weights, apart, stays } = this.attention;
    if (stays) return "A row, with what stays in its own sentence, adds up to 1";
    const each = apart ? " over each numbered line" : "";
    const whole = apart ? this.lines.length : 1;
    const sum = (row, i) => row.reduce((all, weight) => all + weight, this.none?.weights[i] ?? 0);
    return weights.every((row, i) => Math.abs(sum(row, i) - whole) < 0.01)
      ? `A row adds up to 1${each}`
      : `A row that was not changed by hand adds up to 1${each}`;
  }

  // What else can be shown in its place.
  get others() {
    return this.view.linkSwitch?.() ?? [];
  }

  // What is unlike the model as it was trained.
  get changed() {
    return this.view.data.verdict?.what_if;
  }

  // What cutting each of its links did, once that was asked for: the cells whose weight and effect disagree are marked.
  get cut() {
    const { rows, columns } = this.attention;
    return this.view.cutLinks?.find((links) => links.rows === rows && links.columns === columns);
  }

  // In words, of a cell that is marked.
  disagreement(i, j) {
    const among = (cells) => cells?.some((cell) => String(cell) === String([i, j]));
    const said = among(this.cut?.heavy) ? "much weight, little effect" : "little weight, much effect";
    return among(this.cut?.heavy) || among(this.cut?.telling) ? [html("span", said)] : [];
  }

  // How well it agrees with people, where that was measured.
  get agreement() {
    const { agreement } = this.view.data;
    return agreement?.rows === this.attention.rows ? agreement.text : null;
  }

  // What the colours mean, and both ends of their scale.
  /** @returns {any[]} */
  get scale() {
    const { show, low, high } = this.attention;
    if (show === "score") return ["score", signed(low, 2), signed(high, 2)];
    if (this.alike) return ["cosine", low.toFixed(2), high.toFixed(2)];
    return [show === "column" ? "share of the column" : "weight", "0\u00a0%", percent(high)];
  }

  // What the text draws as ribbons.
  get ribbons() {
    return { ...this.attention, axes: this.axes, final: this.final };
  }

  get direction() {
    return this.attention.rows;
  }

  // Columns with the null word's.
  get count() {
    return this.columns.length + (this.none ? 1 : 0);
  }

  get places() {
    return [...Array(this.count).keys()];
  }

  // Where a column begins: lines and the null word's column stand apart, and words that run leftwards stand leftwards.
  x(j) {
    const last = this.columns.length;
    if (j === last) return last * this.cell + this.lines.length * this.apart;
    const before = this.lines.filter((start) => start > 0 && (this.mirrored ? start > j : start <= j)).length;
    return (this.mirrored ? last - 1 - j : j) * this.cell + before * this.apart;
  }

  // Gaps between the blocks of columns.
  get gaps() {
    return this.lines.length - 1 + (this.none ? 1 : 0);
  }

  // In cells.
  get breadth() {
    const { length } = this.heads;
    return length + 0.3 * (this.lines.length - 1 + length - this.columns.length);
  }

  get across() {
    return this.count * this.cell + this.gaps * this.apart;
  }

  get apart() {
    return Math.round(this.cell * 0.3);
  }

  word(j) {
    return j === this.columns.length ? this.none.word : this.columns[j];
  }

  // A number of the cell: what it shows (`values`), its weight or its raw score; of the null word's column, too.
  number(what, i, j) {
    return j === this.columns.length ? this.none[what][i] : this.attention[what][i][j];
  }

  // The words of the rows and of the columns that are selected.
  get selected() {
    const [row, column] = this.axes.map((axis) => this.view.selection[axis]);
    if (this.final === null) return [row, column];
    return [row === this.final ? 0 : null, column];
  }

  title() {
    const { show, rows, columns } = this.attention;
    if (this.alike) return `How alike the words of ${the(rows)} and of ${the(columns)} are`;
    if (this.final !== null)
      return show === "score" ? `Raw scores of ${the(rows)}’s final state` : `Where ${the(rows)}’s final state looks`;
    if (show === "column")
      return `Whose weight each word of ${the(columns)} gets (columns rescaled: not what the model used)`;
    return show === "score" ? `Raw scores of each word of ${the(rows)}` : `Where each word of ${the(rows)} looks`;
  }

  describe(i, j) {
    const { show } = this.attention;
    const cell = `${this.rows[i]} to ${this.word(j)}: `;
    if (show === "score") return cell + this.score(i, j, 3);
    if (this.alike) return `${cell}cosine ${this.number("weights", i, j).toFixed(3)}`;
    return show === "column"
      ? `${cell}${percent(this.number("values", i, j))} of the column, not what the model used`
      : `${cell}weight ${percent(this.number("weights", i, j))}`;
  }

  // The null word's score follows from the model's own weights, where they are above 0.
  score(i, j, digits) {
    const score = this.number("scores", i, j);
    return score === null ? "score not known" : `score ${signed(score, digits)}`;
  }

  // The words along the upper edge, for which there is room; `absent` is what is no word in a matrix beside it.
  get heads() {
    const none = this.attention.absent ?? this.none;
    return none ? [...this.columns, none.word] : this.columns;
  }

  get sizes() {
    return this.view.type > 1 ? PROJECTED : CELL;
  }

  // The cell's side in pixels: as large as width and height allow, never so small that words collide.
  layout(width, height) {
    const { type } = this.view;
    const letters = (words) => Math.min(24, Math.max(...words.map((word) => Array.from(word).length)));
    const left = Math.min(Math.max(44, letters(this.rows) * 7.6 * type + 16), Math.max(90, width * 0.3));
    const tall = Math.max(30, letters(this.heads) * 5.4 * type + 18);
    const fit = Math.min((width - left - LEAN * tall) / this.breadth, (height - tall) / this.rows.length);
    const { most, least } = this.sizes;
    return { left, tall, cell: Math.round(Math.min(most, Math.max(least, Math.floor(fit)))) };
  }

  // Give the matrix what is left of the first screen.
  fit(width) {
    const { frame } = this;
    const scroller = frame.getRootNode().host?.closest('[data-testid="stMain"]');
    const offset = frame.getBoundingClientRect().top + (scroller ? scroller.scrollTop : window.scrollY);
    const height =
      width < 700 ? Math.min(420, window.innerHeight * 0.6) : Math.max(236, window.innerHeight - offset - 44);
    this.build(frame.clientWidth || width, height);
  }

  build(width, height) {
    const { left, tall, cell } = this.layout(width, height);
    const { scrollLeft, scrollTop } = this.frame;
    const same = this.seen && cell === this.cell;
    this.left = left;
    this.tall = tall;
    this.cell = cell;
    this.seen = this.frame.clientWidth > 0;
    const { across } = this;
    const down = this.rows.length * cell;
    const slack = Math.ceil(tall * LEAN);
    // With a projector's large cells the page scrolls before the frame does.
    const whole = this.view.type > 1 && tall + down < 0.8 * window.innerHeight ? tall + down : 0;
    this.frame.style.maxHeight = `${Math.max(height, tall + 6 * cell, whole) + 3}px`;
    this.cramped = left + across + slack > width;
    const letters = { "font-size": (cell < 20 ? 12 : 13.5) * this.view.type, "aria-hidden": "true" };
    this.top = svg("svg.top", { width: across + slack, height: tall, ...letters }, this.columnWords());
    this.side = svg("svg.side", { width: left, height: down, ...letters }, this.rowWords());
    this.marks = svg("g.marks", { "aria-hidden": "true" });
    this.disagreeing = svg("g.disagreeing", { "aria-hidden": "true" });
    this.body = svg(
      "svg.cells",
      { width: across + slack, height: down + (this.several ? 20 * this.view.type : 2), role: "rowgroup" },
      this.cellRows(),
      this.numbers(),
      this.disagreeing,
      this.marks,
      this.lineNumbers(down),
    );
    this.frame.replaceChildren(
      html("div.corner"),
      html("div.pin-top", this.top),
      html("div.pin-side", this.side),
      this.body,
    );
    this.scrolls.hidden = tall + down <= this.frame.clientHeight + 4 && left + across <= this.frame.clientWidth;
    this.draw();
    // A phone's address bar comes and goes: what a person scrolled to stays where it is.
    const untouched = [scrollLeft, scrollTop].join() === this.revealed;
    if (same) this.frame.scrollTo(scrollLeft, scrollTop);
    if (!same || untouched) this.reveal();
    this.revealed = !same || untouched ? [this.frame.scrollLeft, this.frame.scrollTop].join() : null;
  }

  columnWords() {
    const y = this.tall - 7;
    return this.places.map((j) => {
      const none = j === this.columns.length;
      const x = this.x(j) + this.cell * 0.5;
      return svg(
        "text",
        {
          x,
          y,
          transform: `rotate(${none && this.cramped ? -90 : -45} ${x} ${y})`,
          "data-column": none ? null : j,
          class: none && "none",
        },
        shorten(this.word(j), 24),
        svg("title", none ? this.noWord : this.word(j)),
      );
    });
  }

  get noWord() {
    const { stays, columns } = this.attention;
    return stays ? "Pieces that belong to no word" : `The null word: no counterpart in ${the(columns)}`;
  }

  rowWords() {
    const { cell, left } = this;
    const room = Math.max(6, Math.floor((left - 12) / (7 * this.view.type)));
    return this.rows.map((word, i) =>
      svg("text", { x: left - 8, y: (i + 0.5) * cell, "data-row": i }, shorten(word, room), svg("title", word)),
    );
  }

  colour(value) {
    const { low, high } = this.attention;
    return scaleColour((value - low) / (high - low));
  }

  cellRows() {
    const { cell } = this;
    const { values } = this.attention;
    const gap = cell > 22 ? 1 : 0.5;
    const inner = cell - 2 * gap;
    const round = cell > 22 ? 3 : 1.5;
    return values.map((row, i) =>
      svg(
        "g",
        { role: "row", "aria-rowindex": i + 1 },
        this.places.map((j) => {
          const value = this.number("values", i, j);
          return svg("rect", {
            x: this.x(j) + gap,
            y: i * cell + gap,
            width: inner,
            height: inner,
            rx: round,
            fill: value === null ? "none" : this.colour(value),
            role: "gridcell",
            tabindex: -1,
            "aria-colindex": j + 1,
            "aria-label": this.describe(i, j),
            "data-cell": `${i},${j}`,
          });
        }),
      ),
    );
  }

  // What is written into the cells.
  numbers() {
    return null;
  }

  // Below the cells, the number of each line over the width of its words.
  lineNumbers(down) {
    if (!this.several) return null;
    const { type } = this.view;
    const ends = [...this.lines.slice(1), this.columns.length];
    const numbers = this.lines.map((start, line) => {
      const [left, right] = [this.x(start), this.x(ends[line] - 1)].sort((a, b) => a - b);
      const y = down + 4 * type;
      return [
        svg("line", { x1: left + 1, x2: right + this.cell - 1, y1: y, y2: y }),
        svg("text", { x: (left + right + this.cell) / 2, y: down + 16 * type }, line + 1),
      ];
    });
    return svg("g.line-numbers", { "aria-hidden": "true" }, numbers);
  }

  rect(i, j) {
    return this.body ? this.body.children[i]?.children[j] : null;
  }

  listen() {
    this.frame.addEventListener("click", (event) => {
      const at = this.placeOf(event);
      const { row, column } = event.target.dataset || {};
      if (at) this.view.pick(this.part(at));
      else if (row !== undefined) this.view.pick({ [this.axes[0]]: this.final ?? Number(row) });
      else if (column !== undefined) this.view.pick({ [this.axes[1]]: Number(column) });
    });
    this.frame.addEventListener("pointermove", (event) => this.point(this.placeOf(event), event));
    this.frame.addEventListener("pointerleave", () => this.tip.hide());
    this.frame.addEventListener("keydown", (event) => this.key(event));
  }

  placeOf(event) {
    const at = event.target.dataset?.cell;
    return at ? at.split(",").map(Number) : null;
  }

  // What a cell selects; the null word is none of the words.
  part([i, j]) {
    return { [this.axes[0]]: this.final ?? i, [this.axes[1]]: j === this.columns.length ? null : j };
  }

  point(at, event) {
    if (!at) return this.tip.hide();
    const [i, j] = at;
    const cell = html("b", html("bdi", this.rows[i]), " → ", html("bdi", this.word(j)));
    this.tip.show(event, cell, this.facts(i, j));
  }

  // A cell's exact values.
  facts(i, j) {
    if (this.alike) return [html("span", `cosine ${this.number("weights", i, j).toFixed(4)}`)];
    const lines = [html("span", `weight ${exactPercent(this.number("weights", i, j))}`)];
    if (this.attention.scores.length) lines.push(html("span", this.score(i, j, 4)));
    lines.push(...this.disagreement(i, j));
    if (this.attention.show === "column")
      lines.push(html("span", `${exactPercent(this.number("values", i, j))} of its column (not used)`));
    const back = this.view.back(this.attention);
    if (back && j < this.columns.length)
      lines.push(
        html("b", html("bdi", this.word(j)), " → ", html("bdi", this.rows[i])),
        html("span", `weight ${exactPercent(back.weights[j][i])}`),
      );
    return lines;
  }

  key(event) {
    const from = this.placeOf(event) ?? this.at;
    const picks = ["Enter", " "].includes(event.key);
    const last = [this.rows.length - 1, this.count - 1];
    const at = picks ? from : gridStep(event, from, last, this.mirrored ? -1 : 1);
    if (!at) return;
    event.preventDefault();
    this.at = at;
    if (picks) this.view.pick(this.part(at));
    else this.view.select(this.part(at), { soon: true });
    this.reach(at);
    this.rect(...at).focus({ preventScroll: true });
  }

  // The cell that stands for the selection: of a word alone, the one that weighs most; null where nothing is selected.
  get looked() {
    const [row, column] = this.selected;
    if (row === null && column === null) return null;
    if (row === null) return [heaviest(this.rows.map((_, i) => this.number("weights", i, column))), column];
    return [
      row,
      column ?? (this.onNone ? this.at[1] : heaviest(this.places.map((j) => this.number("weights", row, j)))),
    ];
  }

  // Scroll the frame, not the page, until that cell is clear of the fixed edges.
  reveal() {
    const { frame, cell, left, tall, looked } = this;
    if (!cell || !looked) return;
    const [x, y] = [this.x(looked[1]), looked[0] * cell];
    if (x < frame.scrollLeft) frame.scrollLeft = x - cell;
    else if (x + cell > frame.scrollLeft + frame.clientWidth - left)
      frame.scrollLeft = x + 2 * cell - frame.clientWidth + left;
    if (y < frame.scrollTop) frame.scrollTop = y - cell;
    else if (y + cell > frame.scrollTop + frame.clientHeight - tall)
      frame.scrollTop = y + 2 * cell - frame.clientHeight + tall;
  }

  // Rings and diamonds in the corners of cells.
  corners({ heavy, telling }) {
    const look = { fill: "var(--paper)", stroke: "var(--ink)", "stroke-width": 1.5, "pointer-events": "none" };
    const r = Math.max(2, this.cell / 11);
    const corner = ([i, j]) => [this.x(j) + this.cell - 5, i * this.cell + 5];
    return [
      heavy.map(corner).map(([cx, cy]) => svg("circle", { cx, cy, r, ...look })),
      telling.map(corner).map(([x, y]) => {
        const side = r + 1;
        return svg("path", { d: `M${x} ${y - side}l${side} ${side}l${-side} ${side}l${-side} ${-side}z`, ...look });
      }),
    ];
  }

  draw() {
    if (!this.body) return;
    const { cut } = this;
    this.signs.hidden = !cut || !(cut.heavy.length + cut.telling.length);
    refill(this.disagreeing, cut && this.corners(cut));
    const [row, column] = this.selected;
    const { cell } = this;
    this.top.querySelectorAll("text").forEach((text, j) => text.classList.toggle("on", j === column));
    this.side.querySelectorAll("text").forEach((text, i) => text.classList.toggle("on", i === row));
    const outline = (kind, x, y, width, height) => svg(`rect.${kind}`, { x, y, width, height, rx: 4, fill: "none" });
    const both = row !== null && column !== null;
    const line =
      row !== null ? [1, row * cell, this.across - 1, cell] : [this.x(column), 1, cell, this.rows.length * cell - 1];
    refill(
      this.marks,
      row !== null || column !== null ? ["halo", "mark"].map((kind) => outline(kind, ...line)) : null,
      both && outline("cell-mark", this.x(column) + 1, row * cell + 1, cell - 2, cell - 2),
    );
    this.marked?.removeAttribute("aria-selected");
    this.reach([row ?? 0, column ?? (this.onNone ? this.at[1] : 0)]);
    if (both) this.marked?.setAttribute("aria-selected", "true");
  }

  // Whether the keyboard stands on the null word of the selected row.
  get onNone() {
    return Boolean(this.none) && this.at[0] === this.selected[0] && this.at[1] === this.columns.length;
  }

  // The one cell in the tab order.
  reach(at) {
    this.marked?.setAttribute("tabindex", "-1");
    this.at = at;
    this.marked = this.rect(...at);
    this.marked?.setAttribute("tabindex", "0");
  }
}

// A view of a matrix that has a selection of its own: along its edges stand no words that could be selected elsewhere.
// `rows`: the role along the rows; `chosen` is called when another cell is selected.
export function aloneIn(view, words, rows, chosen, data = view.data) {
  const alone = {
    root: view.root,
    data,
    get type() {
      return view.type;
    },
    selection: { row: null, column: null },
    axes: () => ["row", "column"],
    back() {},
    sideOf: (role) => ({ tokens: words[role === rows ? 0 : 1] }),
    select({ row = null, column = null }) {
      alone.selection = { row, column };
      chosen();
    },
    pick({ row = null, column = null }) {
      const again = row === alone.selection.row && column === alone.selection.column;
      alone.select(again ? {} : { row, column });
    },
  };
  return alone;
}

PANELS.attention_map = (view, data) => new (data.units === "windows" ? WindowPanel : MatrixPanel)(view, data);
