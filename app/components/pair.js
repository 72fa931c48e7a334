// One pair: its verdict, its sentences and one panel for each kind of record it has. A word that is selected in one
// part is selected in all: `row` and `column` are words of the sentences along the edges of the matrix.

import { drawn } from "../panels/effects/bars.js";
import { barsOf, strongestWord } from "../panels/effects/records.js";
import { Answer } from "./ask.js";
import { LONG, choice, html, linkButton, the } from "./elements.js";
import { panelsOf, sidesOf } from "./evidence.js";
import { TextPanel } from "./text.js";
import { drawVerdict } from "./verdict.js";
import { PANELS, VIEWS, View } from "./view.js";

const CLICKED = "button, a, input, select, label, [data-cell], [data-row], [data-column], .more, .editor";
const ELSEWHERE = "input, textarea, [role=listbox], [role=combobox], [role=dialog]"; // what has an Escape of its own

/**
 * @typedef {{ row: number | null, column: number | null }} Selection
 * @typedef {{ selection: Selection, explicit: boolean, direction: string | null, editable: boolean,
 *   asked: Record<string, any> }} Moving what changes without a drawing
 * @typedef {{ sides: any[], panels: any[] }} Made of the explanation, by build
 * @extends {View<import("./payloads").Drawn["pair"] & Moving & Made>}
 */
class PairView extends View {
  static crowded = true;

  /** @type {Map<string, Answer>} by the kind of question */
  answers = new Map();

  listen(on) {
    super.listen(on);
    on(window, "keydown", (event) => {
      const own = event.defaultPrevented || event.target.closest?.(ELSEWHERE);
      if (event.key === "Escape" && !own) this.undo();
    });
    on(window, "keydown", (event) => {
      if (!event.defaultPrevented) for (const panel of this.panels ?? []) panel.shortcut?.(event);
    });
    // A click on nothing that can be clicked.
    on(this.root, "click", (event) => {
      if (!event.target.closest(CLICKED)) this.undo();
    });
  }

  /**
   * The answer to a question about the pair that is shown: one per kind, whichever panel asks.
   * @param {string} kind
   * @param {string} text shown while it is computed
   * @param {string} noun what is computed
   */
  answer(kind, text, noun) {
    if (!this.answers.has(kind)) this.answers.set(kind, new Answer(kind, text, noun, () => this.arrived(kind)));
    const answer = this.answers.get(kind);
    answer.say(text);
    return answer;
  }

  // Ask about the current pair and the unchanged model. Nothing is asked if `more` is null.
  question(kind, more, about = this.data.why?.question) {
    this.answers.get(kind).ask(about && more ? { ...about, ...more } : null, this.leave.signal);
  }

  update(data, setStateValue) {
    const { drawing, sides, panels } = this.data ?? {};
    super.update(drawing === data.drawing ? { ...data, sides, panels } : this.made(data), setStateValue);
  }

  // With the sentences and the panels' data; what was asked about another pair is not wanted any more.
  made(data) {
    const { explanation, axes, unread, why } = data;
    const question = JSON.stringify(why?.question);
    if (question !== this.about) for (const answer of this.answers.values()) answer.ask(null);
    this.about = question;
    const sides = sidesOf(explanation, axes, { unread, negatable: why?.negatable });
    return { ...data, sides, panels: panelsOf(explanation, PANELS, data) };
  }

  // `explicit`: whether the person or the address has chosen the selection; `asked`: how effects are asked for.
  take({ selection, direction, explicit, asked }) {
    this.explicit = explicit;
    this.selection = { row: selection.row ?? null, column: selection.column ?? null };
    this.direction = direction ?? this.directions?.[0];
    this.asked = { ...asked };
    this.choose();
  }

  // Select the word with the largest effect, unless another selection was made.
  choose() {
    const word = !this.explicit && this.effects && strongestWord(this.effects);
    if (!word) return;
    const { axis } = this.sideOf(word.role);
    this.selection = { row: null, column: null, [axis]: word.index };
  }

  // An answer has come. What is looked up for a word has its place already.
  arrived(kind) {
    this.choose();
    this.draw();
    if (!["explain", "offers"].includes(kind)) this.refit();
  }

  // What each word does to the verdict, where that is known.
  get effects() {
    return this.answers.get("why")?.value ?? null;
  }

  // By role, the bar of each word by the method that is asked for; nothing while they are computed.
  get bars() {
    return this.effects && barsOf(this.effects, this.asked.method);
  }

  // How a word stands to the verdict, and its effect as a share of the largest; nothing where it is not known, or too
  // small to be drawn.
  effectOf(role, index) {
    const [effect] = this.bars?.[role]?.[index] ?? [];
    if ((effect ?? null) === null || !drawn(effect, this.effects.unit)) return null;
    const all = Object.values(this.bars).flat();
    const most = Math.max(...all.map(([one]) => Math.abs(one ?? 0)), 1e-9);
    return { kind: effect < 0 ? "opposes" : "supports", share: Math.abs(effect) / most };
  }

  // The sentences that the model reads, each once.
  get readSides() {
    const roles = [...new Set(this.data.sides.filter(({ read }) => read).map(({ role }) => role))];
    return roles.map((role) => this.sideOf(role));
  }

  // Change how effects are requested; known ones are drawn at once.
  ask(other) {
    Object.assign(this.asked, other);
    this.draw();
    this.tell({}, 0);
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
    const before = this.panels ?? [];
    // Each within its folder's style.
    this.panels = data.panels.map(({ kind, data: own }) => {
      const panel = PANELS[kind].make(this, own);
      panel.element.classList.add("panel", kind);
      return panel;
    });
    for (const panel of this.panels) for (const old of before) if (old.replaces && panel.replaces) panel.replaces(old);
    const [first, main, beside, changes, below] = ["first", "main", "beside", "changes", "below"].map((place) =>
      this.panels.filter((_, i) => data.panels[i].place === place).map(({ element }) => element),
    );
    const maps = this.panels.map((panel) => panel.ribbons).filter(Boolean);
    this.directions = maps.map(({ rows }) => rows);
    if (!this.directions.includes(this.direction)) [this.direction] = this.directions;
    this.arranged = this.shown; // once it is drawn
    this.switch =
      this.directions.length > 1 || (this.linked && !this.lone)
        ? html("div.choices.wraps.directions", { role: "group", "aria-label": "What is shown of attention" })
        : null;
    const text = maps.length || !this.panels.some((panel) => panel.sentences) ? new TextPanel(this, maps) : null;
    if (text) this.panels.unshift(text); // the others take the room that it leaves
    // Long sentences, or a projector's large words, and their matrix take the whole first screen; the lines under the
    // words are visible anyway.
    const long = data.projector || data.sides.some(({ tokens }) => tokens.length > LONG);
    return [
      drawVerdict(data.verdict, data.notices),
      text?.element,
      long ? null : first,
      this.switch,
      beside.length ? html("div.side-by-side.halves", html("div", main), html("div", beside)) : main,
      long ? first : null,
      changes,
      below,
    ]
      .flat()
      .filter(Boolean);
  }

  // The link of what is on screen now, even when the server has not yet put the selection into the address.
  link() {
    const { row, column } = this.selection;
    const select = (row === null ? "" : `x${row + 1}`) + (column === null ? "" : `y${column + 1}`);
    const selected = this.explicit ? { select: select || "none" } : {};
    const direction = this.looking ? { direction: this.looking } : {};
    return { ...this.data.link, ...selected, ...direction, ...this.askedOtherwise };
  }

  // The settings of effects that are not the defaults.
  get askedOtherwise() {
    const { method, ...others } = this.asked;
    const first = this.data.why?.methods[0].name;
    const changed = Object.entries({ ...others, method: method === first ? "" : method });
    return Object.fromEntries(changed.filter(([, value]) => value));
  }

  get linked() {
    return this.data.panels.some(({ kind }) => kind === "links");
  }

  // Whether one matrix alone shows where words look: its heading has the switch, which needs no line of its own.
  get lone() {
    return this.data.panels.filter(({ kind, data }) => kind === "attention_map" && data.show).length === 1;
  }

  // In the heading of that matrix.
  linkSwitch() {
    if (!this.linked || !this.lone) return [];
    return [linkButton("What each link does", "Show what each link does", () => this.ask({ links: "kept" }))];
  }

  // The direction that is looked at, null for the first one.
  get looking() {
    return this.direction === this.directions[0] ? null : this.direction;
  }

  // Send the selection and all settings to the server.
  tell(more, wait = 0) {
    const { selection, explicit: chosen, looking: direction } = this;
    this.send({ ...selection, chosen, direction, ...this.asked, ...more }, wait);
  }

  select(part, { soon = false } = {}) {
    this.explicit = true;
    this.selection = { row: part.row ?? null, column: part.column ?? null };
    this.draw();
    for (const panel of this.panels) panel.reveal?.();
    this.tell({}, soon ? 250 : 0);
  }

  // A click selects; a second one undoes it. What the page has selected by itself becomes the person's: it may have
  // come the moment before the click.
  pick(part) {
    const again = this.explicit && ["row", "column"].every((axis) => (part[axis] ?? null) === this.selection[axis]);
    this.select(again ? {} : part);
  }

  undo() {
    if (this.selection.row !== null || this.selection.column !== null) this.select({});
  }

  // Ask for another pair: this one with a word changed. `stays`: the words that are selected in that one.
  edit(change, stays = {}) {
    const [row, column] = [stays.row ?? null, stays.column ?? null];
    this.tell({ edit: change, row, column, chosen: row !== null || column !== null }, 0);
    this.edited = this.turn;
  }

  // Whether a change is still on its way to the page.
  get editing() {
    return (this.edited ?? 0) > (this.data?.turn ?? 0);
  }

  // Of a model with attention in both directions, the one that is looked at.
  turnTo(direction) {
    this.direction = direction;
    this.draw();
    this.tell({}, 0);
  }

  drawSwitch() {
    const { links } = this.asked;
    for (const panel of this.panels)
      if (panel.direction) panel.element.hidden = panel.direction !== this.direction || Boolean(links && panel.ribbons);
    const several = this.directions.length > 1;
    const looks = this.directions.map((role) =>
      choice(role === this.direction, () => this.turnTo(role), `Where ${the(role)} looks`),
    );
    const cut = choice(Boolean(links), () => this.ask({ links: links ? "" : "kept" }), "What each link does");
    this.switch?.replaceChildren(
      ...(several ? [...looks, this.linked && html("span.apart")].filter(Boolean) : []),
      ...(this.linked ? [cut] : []),
    );
  }

  draw() {
    this.drawSwitch();
    for (const panel of this.panels) panel.draw();
    if (this.arranged === this.shown) return;
    // What was hidden has had no size until now.
    this.arranged = this.shown;
    this.refit();
  }

  // What of attention is shown; the rest is hidden.
  get shown() {
    return [this.direction, this.asked.links].join();
  }

  arrange(width) {
    for (const panel of this.panels) if (!panel.element.hidden) panel.fit?.(width);
  }
}

VIEWS.pair = (root) => new PairView(root);
