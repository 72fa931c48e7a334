// A matrix of words: square cells with words along both edges, its heading, its legend and its save buttons. A click or a
// key selects a cell or a word of an edge, and a tooltip shows a cell's exact value. A long pair scrolls inside its frame;
// its edges stay in place.

import { legend, weightLook } from "../../components/colours.js";
import { fill, html, svg } from "../../components/create.js";
import { directionOf, focusedIn, gridStep, heading, heaviest, refill } from "../../components/elements.js";
import { exactPercent, percent, shorten, the } from "../../components/wording.js";
import { saveButtons } from "../../components/save.js";
import { Tip } from "../../components/tip.js";

const CELL = { most: 36, least: 17 };
const PROJECTED = { most: 64, least: 58 }; // 2 pixels of each lie between cells
const SMALL_PROJECTOR = { most: 64, least: 24, width: 1600 }; // on a screen narrower than this
const LEAN = 0.8; // share of the words' height by which the last one leans beyond its column

/**
 * @typedef {import("../../components/evidence.js").Part} Part
 * @typedef {Pick<import("../../components/pair.js").PairView, "root" | "data" | "type" | "selection" | "axes" | "back" |
 *   "sideOf" | "select" | "pick"> & { turns?: (rows: string) => HTMLElement[], title?: string, base?: string,
 *   other?: string, compare?: { high: number, absent: { word: string } | null } }} MatrixView what a matrix knows of its page
 * @typedef {ReturnType<typeof import("./cells.js").withValues>} MatrixMap
 * @typedef {[string, string, string, string[]?]} Scale its name, both ends, and its colours
 * @typedef {{ title: string, headed?: string, how: string, more: string, scale: Scale, what: string, file: string,
 *   buttons?: HTMLElement[] }} Labels
 */

export class MatrixPanel {
  /**
   * @param {MatrixView} view
   * @param {MatrixMap} attention a WordMap with its values on Explore; others also have what their labels tell
   */
  constructor(view, attention) {
    this.view = view;
    this.attention = attention;
    const { tokens } = view.sideOf(attention.rows);
    // A final state is one row, labelled with the word after which it was taken.
    this.final = attention.units === "final state" ? tokens.length - 1 : null;
    this.rows = this.final === null ? tokens : ["final state"];
    const { tokens: columns, lines = [0] } = view.sideOf(attention.columns);
    this.columns = columns;
    this.lines = lines;
    this.several = lines.length > 1; // lines of a text, such as sentences of evidence
    this.none = attention.none; // the null word's column, if the model has one
    this.mirrored = directionOf(columns) === "rtl";
    this.frame = html("div.matrix.scroll", {
      role: "grid",
      "aria-rowcount": this.rows.length,
      "aria-colcount": this.count,
    });
    this.scrolls = html(
      "span.screen",
      { hidden: true },
      `${this.rows.length} × ${this.columns.length} words: scroll inside the frame`,
    );
    this.axes = view.axes(attention);
    this.at = [0, 0];
    this.tip = new Tip();
    const { title, headed = title, how, more, scale, what, file, buttons = [] } = this.labels;
    this.frame.setAttribute("aria-label", title);
    const key = fill(legend(...scale), {}, [this.scrolls]);
    const saves = saveButtons(view, what, () => ({ file, title, elements: [this.frame, key] }));
    this.element = html(
      "section.attention",
      { "aria-label": title },
      heading(headed, how, more, [buttons, saves]),
      this.frame,
      key,
      this.tip.element,
    );
    this.listen();
  }

  // The number of columns, including the null word's.
  get count() {
    return this.columns.length + (this.none ? 1 : 0);
  }

  get places() {
    return [...Array(this.count).keys()];
  }

  // The left edge of a column: lines and the null word's column are set apart, and right-to-left words run leftwards.
  x(j) {
    const last = this.columns.length;
    if (j === last) return last * this.cell + this.lines.length * this.apart;
    const before = this.lines.filter((start) => start > 0 && (this.mirrored ? start > j : start <= j)).length;
    return (this.mirrored ? last - 1 - j : j) * this.cell + before * this.apart;
  }

  // In cells.
  get breadth() {
    const { length } = this.heads;
    return length + 0.3 * (this.lines.length - 1 + length - this.columns.length);
  }

  get across() {
    return this.count * this.cell + (this.lines.length - 1 + (this.none ? 1 : 0)) * this.apart;
  }

  get apart() {
    return Math.round(this.cell * 0.3);
  }

  word(j) {
    return j === this.columns.length ? this.none.word : this.columns[j];
  }

  // A number of the cell: its displayed value (`values`), its weight or its raw score, also in the null word's column.
  number(what, i, j) {
    return j === this.columns.length ? this.none[what][i] : this.attention[what][i][j];
  }

  // The words along the upper edge that fit; `absent` is the label of no word in an adjacent matrix.
  get heads() {
    const none = this.attention.absent ?? this.none;
    return none ? [...this.columns, none.word] : this.columns;
  }

  get sizes() {
    if (this.view.type === 1) return CELL;
    return window.innerWidth < SMALL_PROJECTOR.width ? SMALL_PROJECTOR : PROJECTED;
  }

  // The scroll position of its words, and the one that showed the selection; `kept` comes from the previous matrix of the same words, which this one replaces.
  /** @type {{ scrollLeft: number, scrollTop: number, cell: number, revealed: string | null }} */
  get scrolled() {
    const { scrollLeft, scrollTop } = this.frame;
    return { scrollLeft, scrollTop, cell: this.cell, revealed: this.revealed };
  }

  /** @param {import("../../components/panel.js").Panel & Partial<MatrixPanel>} other */
  replaces(other) {
    const words = (/** @type {Partial<MatrixPanel>} */ { rows, columns, attention }) =>
      JSON.stringify([rows, columns, attention.rows, attention.units]);
    if (other.seen && words(this) === words(other)) this.kept = other.scrolled;
  }

  // The cell's side in pixels: as large as width and height allow, but large enough that words do not collide.
  layout(width, height) {
    const { type } = this.view;
    const letters = (words) => Math.min(24, Math.max(...words.map((word) => Array.from(word).length)));
    const left = Math.min(Math.max(44, letters(this.rows) * 7.6 * type + 16), Math.max(90, width * 0.3));
    const tall = Math.max(30, letters(this.heads) * 5.4 * type + 18);
    const fit = Math.min((width - left - LEAN * tall) / this.breadth, (height - tall) / this.rows.length);
    const { most, least } = this.sizes;
    return { left, tall, cell: Math.round(Math.min(most, Math.max(least, Math.floor(fit)))) };
  }

  // Gives the matrix the rest of the first screen.
  fit(width) {
    const { frame } = this;
    const scroller = frame.getRootNode().host?.closest('[data-testid="stMain"]');
    const offset = frame.getBoundingClientRect().top + (scroller ? scroller.scrollTop : window.scrollY);
    const height =
      width < 700 ? Math.min(420, window.innerHeight * 0.6) : Math.max(200, window.innerHeight - offset - 52); // room for the legend below
    this.build(frame.clientWidth || width, height);
  }

  build(width, height) {
    const { left, tall, cell } = this.layout(width, height);
    const { scrollLeft, scrollTop, cell: before, revealed } = this.seen ? this.scrolled : (this.kept ?? {});
    const same = cell === before;
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
    this.body = svg(
      "svg.cells",
      { width: across + slack, height: down + (this.several ? 20 * this.view.type : 2), role: "rowgroup" },
      this.cellRows(),
      this.numbers(),
      this.marks,
      this.lineNumbers(down),
    );
    const focused = focusedIn(this.frame)?.dataset.cell;
    const focus = focused && this.frame.querySelector(`[data-cell="${focused}"]:focus`);
    this.frame.replaceChildren(
      html("div.corner"),
      html("div.pin-top", this.top),
      html("div.pin-side", this.side),
      this.body,
    );
    this.scrolls.hidden = tall + down <= this.frame.clientHeight + 4 && left + across <= this.frame.clientWidth;
    this.draw();
    if (focus) this.frame.querySelector(`[data-cell="${focused}"]`)?.focus({ preventScroll: true });
    // A phone's address bar comes and goes: the user's scroll position is kept.
    const untouched = [scrollLeft, scrollTop].join() === revealed;
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

  // The background of a cell, and the colour of text on it.
  look(value) {
    const { low, high } = this.attention;
    return weightLook((value - low) / (high - low));
  }

  colour(value) {
    return this.look(value).ground;
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

  /**
   * The text in a cell with this value.
   * @param {number | null} value
   * @returns {string | null}
   */
  written(value) /* eslint-disable-line no-unused-vars */ {
    return null;
  }

  // The font size of the numbers in the cells.
  get digits() {
    return Math.min(12, 0.5 * this.cell) * this.view.type;
  }

  numbers() {
    const text = (i, j) => {
      const value = this.number("values", i, j);
      const written = this.written(value);
      const place = { x: this.x(j) + this.cell / 2, y: (i + 0.5) * this.cell };
      return written && svg("text", { ...place, style: `fill:${this.look(value ?? 0).ink}` }, written);
    };
    const texts = this.rows.map((_, i) => this.places.map((j) => text(i, j)));
    return svg("g.numbers", { "aria-hidden": "true", "font-size": this.digits }, texts);
  }

  // The number of each line, below the cells and across the width of its words.
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

  // Its title, how to read it (one line, and more on demand), the legend with both ends of the scale, and what is saved
  // under which name. `headed`: the title above the matrix.
  /** @returns {Labels} */
  get labels() {
    throw new Error("a kind of matrix has its own");
  }

  // The description of a cell.
  /**
   * @param {number} i
   * @param {number} j
   */
  describe(i, j) {
    return `${this.rows[i]} to ${this.word(j)}: weight ${percent(this.number("weights", i, j))}`;
  }

  // A cell's exact values.
  facts(i, j) {
    return [html("span", `weight ${exactPercent(this.number("weights", i, j))}`)];
  }

  // The selected words of the rows and of the columns.
  get selected() {
    const [row, column] = this.axes.map((axis) => this.view.selection[axis]);
    if (this.final === null) return [row, column];
    return [row === this.final ? 0 : null, column];
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

  // The selection that a cell makes; the null word is not a word.
  part([i, j]) {
    return { [this.axes[0]]: this.final ?? i, [this.axes[1]]: j === this.columns.length ? null : j };
  }

  point(at, event) {
    if (!at) return this.tip.hide();
    const [i, j] = at;
    const cell = html("b", html("bdi", this.rows[i]), " → ", html("bdi", this.word(j)));
    this.tip.show(event, cell, this.facts(i, j));
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

  // The cell that represents the selection: for a single word, the heaviest one; null without a selection.
  get looked() {
    const [row, column] = this.selected;
    if (row === null && column === null) return null;
    if (row === null) return [heaviest(this.rows.map((_, i) => this.number("weights", i, column))), column];
    return [
      row,
      column ?? (this.onNone ? this.at[1] : heaviest(this.places.map((j) => this.number("weights", row, j)))),
    ];
  }

  // Scrolls the frame, not the page, until the fixed edges do not cover that cell.
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

  draw() {
    if (!this.body) return;
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

  // Whether the null word of the selected row has keyboard focus.
  get onNone() {
    return Boolean(this.none) && this.at[0] === this.selected[0] && this.at[1] === this.columns.length;
  }

  // The only cell in the tab order.
  reach(at) {
    this.marked?.setAttribute("tabindex", "-1");
    this.at = at;
    this.marked = this.rect(...at);
    this.marked?.setAttribute("tabindex", "0");
  }
}

// A view of a matrix with a separate selection: the words along its edges cannot be selected elsewhere. `rows`: the
// role along the rows; `chosen` is called when another cell is selected.
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
