// One pair: its verdict, its sentences and one panel for each kind of record it has. A word that is selected in one
// part is selected in all: `row` and `column` are words of the sentences along the edges of the matrix.

import { choice, html, the } from "./elements.js";
import { TextPanel } from "./text.js";
import { EXPLORE_TOUR, Tour } from "./tour.js";
import { drawVerdict } from "./verdict.js";
import { PANELS, VIEWS, View } from "./view.js";

const CLICKED = "button, a, input, label, [data-cell], [data-row], [data-column], .more, .tour";
const ELSEWHERE = "input, textarea, [role=listbox], [role=combobox], [role=dialog]"; // what has an Escape of its own

/**
 * @typedef {{ row: number | null, column: number | null }} Selection
 * @typedef {{ selection: Selection, explicit: boolean, direction: string | null, editable: boolean, tour: boolean,
 *   late: Record<string, any> }} Moving what changes without a new drawing
 * @extends {View<import("./payloads").Drawn["pair"] & Moving>}
 */
class PairView extends View {
  listen(on) {
    super.listen(on);
    on(window, "keydown", (event) => {
      const own = event.defaultPrevented || event.target.closest?.(ELSEWHERE);
      if (event.key === "Escape" && !own && !this.tour?.leave()) this.undo();
    });
    // A click beside all that can be clicked.
    on(this.root, "click", (event) => {
      if (!event.target.closest(CLICKED)) this.undo();
    });
  }

  take({ selection, direction }) {
    this.selection = { row: selection.row ?? null, column: selection.column ?? null };
    this.direction = direction ?? this.directions?.[0];
  }

  // The side with this role; of a sentence along both edges, the one along the rows.
  sideOf(role) {
    const sides = this.data.sides.filter((side) => side.role === role);
    return sides.find((side) => side.axis === "row") || sides[0];
  }

  // What a selected word of the rows, and one of the columns, is called.
  axes({ rows, columns }) {
    return rows === columns ? ["row", "column"] : [rows, columns].map((role) => this.sideOf(role).axis);
  }

  // The map in the other direction, of a model with both.
  back({ rows, columns }) {
    return rows === columns
      ? undefined
      : this.dataOf("attention_map", (map) => map.units === "words" && map.rows === columns && map.columns === rows);
  }

  /**
   * What the first panel of this kind draws that `fits`.
   * @param {string} kind
   * @param {(data: any) => boolean} fits
   */
  dataOf(kind, fits = () => true) {
    return this.data.panels.find((panel) => panel.kind === kind && fits(panel.data))?.data;
  }

  build() {
    const { data } = this;
    const step = this.tour?.at;
    this.tour = data.tour ? new Tour(this, EXPLORE_TOUR) : null;
    const drawn = data.panels.map(({ kind, place, data: own }) => ({ kind, place, panel: PANELS[kind](this, own) }));
    for (const { kind, panel } of drawn) panel.element.classList.add("panel", kind); // its folder's style holds inside of it
    const [main, beside, below] = ["main", "beside", "below"].map((place) =>
      drawn.filter((one) => one.place === place).map(({ panel }) => panel.element),
    );
    this.panels = drawn.map(({ panel }) => panel);
    const maps = this.panels.map((panel) => panel.ribbons).filter(Boolean);
    this.directions = maps.map(({ rows }) => rows);
    if (!this.directions.includes(this.direction)) [this.direction] = this.directions;
    this.arranged = this.direction;
    this.switch =
      this.directions.length > 1
        ? html("div.choices.wraps.directions", { role: "group", "aria-label": "Whose attention" })
        : null;
    const text = maps.length || !this.panels.some((panel) => panel.sentences) ? new TextPanel(this, maps) : null;
    if (text) this.panels.push(text);
    // With another pair the tour stays where it was.
    if (this.tour) queueMicrotask(() => (step === undefined ? this.tour.first() : this.tour.go(step)));
    return [
      drawVerdict(data.verdict, data.notices),
      text?.element,
      this.switch,
      beside.length ? html("div.side-by-side.halves", html("div", main), html("div", beside)) : main,
      below,
    ].flat();
  }

  // The link of what is on screen now, even when the server has not yet put the selection into the address.
  link() {
    const { row, column } = this.selection;
    const select = (row === null ? "" : `x${row + 1}`) + (column === null ? "" : `y${column + 1}`);
    const selected = this.turn > 0 || this.data.explicit ? { select: select || "none" } : {};
    return { ...this.data.link, ...selected, ...(this.looking ? { direction: this.looking } : {}) };
  }

  // The direction that is looked at, null for the first one.
  get looking() {
    return this.direction === this.directions[0] ? null : this.direction;
  }

  // To the server: all that a person has selected.
  tell(more, wait = 0) {
    this.send({ ...this.selection, direction: this.looking, ...more }, wait);
  }

  select(part, { soon = false } = {}) {
    this.selection = { row: part.row ?? null, column: part.column ?? null };
    this.draw();
    for (const panel of this.panels) panel.reveal?.();
    this.tell({}, soon ? 250 : 0);
  }

  // A click selects; a second one undoes it.
  pick(part) {
    const again = ["row", "column"].every((axis) => (part[axis] ?? null) === this.selection[axis]);
    this.select(again ? {} : part);
  }

  undo() {
    if (this.selection.row !== null || this.selection.column !== null) this.select({});
  }

  // Ask for another pair: this one with a word changed.
  edit(change) {
    this.tell({ edit: change }, 0);
  }

  // Of a model with attention in both directions, the one that is looked at.
  turnTo(direction) {
    this.direction = direction;
    this.draw();
    this.tell({}, 0);
  }

  drawSwitch() {
    for (const panel of this.panels) if (panel.direction) panel.element.hidden = panel.direction !== this.direction;
    this.switch?.replaceChildren(
      ...this.directions.map((role) =>
        choice(role === this.direction, () => this.turnTo(role), `Where ${the(role)} looks`),
      ),
    );
  }

  draw() {
    this.drawSwitch();
    for (const panel of this.panels) panel.draw();
    if (this.arranged === this.direction) return;
    // What was hidden has had no size until now.
    this.arranged = this.direction;
    this.fitted = null;
    this.fit();
  }

  arrange(width) {
    for (const panel of this.panels) panel.fit?.(width);
  }
}

VIEWS.pair = PairView;
