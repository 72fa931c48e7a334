// An interactive matrix with its heading, its legend and its save buttons: a click or a key selects a cell or a word of
// an edge, and a tooltip shows a cell's exact value.

import { legend } from "../../components/colours.js";
import {
  exactPercent,
  fill,
  gridStep,
  heading,
  heaviest,
  html,
  percent,
  refill,
  svg,
} from "../../components/elements.js";
import { saveButtons } from "../../components/save.js";
import { Tip } from "../../components/tip.js";
import { WordGrid } from "./grid.js";

export class MatrixPanel extends WordGrid {
  constructor(view, attention) {
    super(view, attention);
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

  // Its title, how to read it (one line, and more on demand), the legend with both ends of the scale, and what is saved
  // under which name. `headed`: the title above the matrix.
  /** @returns {any} */
  get labels() {
    return {};
  }

  describe(i, j) {
    return `${super.describe(i, j)}: weight ${percent(this.number("weights", i, j))}`;
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

// A view of a matrix with a selection of its own: the words along its edges cannot be selected elsewhere. `rows`: the
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
