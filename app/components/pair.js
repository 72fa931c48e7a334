// One pair: its verdict, its sentences and one panel for each kind of record. A word selected in one part is selected
// in all: `row` and `column` are words of the sentences along the matrix's edges.

import { drawn, factsOf, wordOf } from "../panels/effects/bars.js";
import { wordMap } from "../panels/attention_map/records.js";
import { barsOf } from "../panels/effects/records.js";
import { Answer, askAtOnce } from "./ask.js";
import { html } from "./create.js";
import { linkButton } from "./elements.js";
import { the } from "./wording.js";
import { isWordMap, panelsOf, selectionName, selectionOf, sidesOf, withChances } from "./evidence.js";
import { attempt, hasBars, panelOf } from "./panel.js";
import { Reason } from "./reason.js";
import { TextPanel } from "./text.js";
import { Tools } from "./tools.js";
import { drawVerdict } from "./verdict.js";
import { PANELS, VIEWS, View } from "./view.js";

const CLICKED = "button, a, input, select, label, summary, [data-cell], [data-row], [data-column], .more, .editor";
const ELSEWHERE = "input, textarea, [role=listbox], [role=combobox], [role=dialog]"; // these handle Escape themselves
// The contents of a door (a collapsible part), by the place that panels name.
const DOORS = {
  "what-if": ["What if", "change words or the attention, find the smallest change"],
  "how-sure": ["How sure", "how far the explanations can be trusted"],
  details: ["Details", "effects as bars, all parts of the model, saved figures"],
};

/**
 * @typedef {{ selection: string | null, direction: string | null, editable: boolean,
 *   asked: Record<string, string> }} Moving what changes without a drawing
 * @typedef {{ sides: import("./evidence.js").SideOfPair[], maps: import("../panels/attention_map/records.js").WordMap[],
 *   panels: ReturnType<typeof panelsOf> }} Made from the explanation: its sentences, maps of words and panels
 * @extends {View<import("./payloads").Drawn["pair"] & Moving & Made>}
 */
export class PairView extends View {
  static crowded = true;

  /** @type {Map<string, Answer>} by name */
  answers = new Map();
  /** @type {typeof import("../panels/attention_map/attention.js").AttentionMatrix | null} replaces Explore's */
  Matrix = null;

  listen(on) {
    super.listen(on);
    on(window, "keydown", (event) => {
      const own = event.defaultPrevented || event.target.closest?.(ELSEWHERE);
      if (event.key === "Escape" && !own) this.undo();
    });
    on(window, "keydown", (event) => {
      if (!event.defaultPrevented) this.each((panel) => panel.shortcut?.(event));
    });
    // A click outside all clickable elements.
    on(this.root, "click", (event) => {
      if (!event.target.closest(CLICKED)) this.undo();
    });
  }

  /**
   * The answer to a question about the current pair: one per name, shared by all panels.
   * @template {string} Kind
   * @param {Kind} kind of question
   * @param {string} text shown during the computation
   * @param {string} noun names the result
   * @param {string} [name] of the answer
   */
  answer(kind, text, noun, name = kind) {
    if (!this.answers.has(name)) this.answers.set(name, new Answer(kind, text, noun, () => this.arrived(name)));
    const answer = /** @type {Answer<Kind>} */ (this.answers.get(name));
    answer.say(text);
    return answer;
  }

  /**
   * The value of the answer to this kind of question, null until it has arrived.
   * @template {keyof import("./payloads").Answers} Kind
   * @param {Kind} kind
   */
  known(kind) {
    return /** @type {Answer<Kind> | undefined} */ (this.answers.get(kind))?.value ?? null;
  }

  /**
   * Asks about the current pair and the unchanged model. Nothing is sent if `more` is null.
   * @param {string} name of the answer
   * @param {import("./ask.js").Question | null} more
   * @param {import("./ask.js").Question | import("./payloads").AskedTexts} [about]
   */
  question(name, more, about = this.data.why?.question) {
    this.answers.get(name).ask(about && more ? { ...about, ...more } : null, this.leave.signal);
  }

  update(data, setStateValue) {
    const { drawing, sides, maps, panels } = this.data ?? {};
    super.update(drawing === data.drawing ? { ...data, sides, maps, panels } : this.made(data), setStateValue);
  }

  // Adds the sentences and the panels' data; answers about another pair are dropped.
  made(data) {
    const { explanation, axes, unread, why, show } = data;
    const question = JSON.stringify(why?.question);
    if (question !== this.about) for (const answer of this.answers.values()) answer.ask(null);
    this.about = question;
    const sides = sidesOf(explanation, axes, { unread, negatable: why?.negatable });
    const maps = explanation.evidence.filter(isWordMap).map((record) => wordMap(record, show));
    const panels = panelsOf(explanation, PANELS, why);
    return { ...data, sides, maps, panels: why ? panels : panels.filter(({ place }) => !(place in DOORS)) }; // without doors
  }

  // `selection`: made by the user or the URL, else null; `asked`: the settings of effects.
  take({ selection, direction, asked }) {
    this.explicit = selection !== null;
    this.selection = selectionOf(selection);
    this.direction = direction ?? this.directions?.[0];
    this.asked = { ...asked };
    this.choose();
  }

  // Selects the first word named by the sentence, unless another selection was made.
  choose() {
    const { first, contexts } = this.data.explanation;
    const [word] = this.known("reason")?.named ?? [];
    if (this.explicit || !word) return;
    const [number, index] = word;
    const { axis } = this.sideOf([first, ...contexts][number].role);
    this.selection = { row: null, column: null, [axis]: index };
  }

  // Called when an answer arrives. Only the sentence under the verdict moves the parts below it.
  arrived(name) {
    this.choose();
    this.draw();
    if (name === "reason") this.refit();
  }

  // Each word's effect on the verdict, if known.
  get effects() {
    return this.known("why");
  }

  /**
   * Shows the verdict and the ribbons under edits not yet made, while a slider moves; the newest edits win.
   * @param {string[]} edits in their text form; empty to show the pair itself
   */
  async preview(edits) {
    const waiting = Boolean(this.trying);
    this.trying = edits;
    if (waiting) return;
    this.root.classList.add("trying");
    const { drawing, why, explanation } = this.data;
    const { model, first, second, edits: made } = why.shown;
    let asked = null;
    while (asked !== this.trying && this.data.drawing === drawing) {
      asked = this.trying;
      const body = { model, first, second, edits: [...made, ...asked] };
      try {
        const shown = asked.length ? await askAtOnce("preview", body, this.leave.signal) : explanation;
        if (this.data.drawing === drawing) this.show(shown, asked.length > 0);
      } catch {
        break; // errors are shown when the change is made
      }
    }
    this.trying = null;
    if (!asked.length) this.root.classList.remove("trying");
  }

  // Draws this explanation's verdict and weights instead of the page's.
  show({ probabilities, evidence }, changed) {
    const { verdict, notices } = this.data;
    const before = this.verdict;
    const classes = withChances(verdict.classes, probabilities);
    const what_if = verdict.what_if || (changed && "attention changed by hand");
    const trained = verdict.trained ?? (changed ? verdict.classes : null);
    this.reason.sentence.classList.toggle("unlike", Boolean(what_if));
    this.verdict = drawVerdict({ ...verdict, classes, what_if, trained }, notices, this.reason, this.correct);
    before.replaceWith(this.verdict);
    for (const record of evidence.filter(isWordMap)) this.each((panel) => panel.follows?.(record));
  }

  // By role, each word's bar by the chosen method; empty during the computation.
  get bars() {
    return this.effects && barsOf(this.effects, this.asked.method);
  }

  // The class whose effects are shown.
  get followed() {
    return this.data.why?.verdict;
  }

  // A word's relation to the verdict, also in words, and its effect as a share of the largest, 0 if too small to draw;
  // null if unknown.
  effectOf(role, index) {
    const { bars, effects } = this;
    const bar = bars?.[role]?.[index] ?? [];
    const [effect = null] = bar;
    if (effect === null) return null;
    const all = Object.values(bars).flat();
    const most = Math.max(...all.map(([one]) => Math.abs(one ?? 0)), 1e-9);
    const said = factsOf(wordOf(this.sideOf(role).tokens[index], index, bar), effects, this.followed);
    const share = drawn(effect, effects) ? Math.abs(effect) / most : 0;
    return { kind: effect < 0 ? "opposes" : "supports", share, said };
  }

  // The sentences that the model reads, each once.
  get readSides() {
    const roles = [...new Set(this.data.sides.filter(({ read }) => read).map(({ role }) => role))];
    return roles.map((role) => this.sideOf(role));
  }

  // Changes how effects are requested; known ones are drawn at once.
  ask(other) {
    Object.assign(this.asked, other);
    this.draw();
    this.tell({}, 0);
  }

  // The side with this role; for a sentence along both edges, the one along the rows.
  sideOf(role) {
    const sides = this.data.sides.filter((side) => side.role === role);
    return sides.find((side) => side.axis === "row") || sides[0];
  }

  // The names of a selected word of the rows and of one of the columns.
  axes({ rows, columns }) {
    return rows === columns ? ["row", "column"] : [rows, columns].map((role) => this.sideOf(role).axis);
  }

  // The map in the other direction, if the model has both.
  back({ rows, columns }) {
    if (rows === columns) return undefined;
    return this.data.maps.find((map) => map.units === "words" && map.rows === columns && map.columns === rows);
  }

  build() {
    const { data } = this;
    const before = this.panels ?? [];
    this.root.classList.remove("trying");
    this.directions = data.maps.map(({ rows }) => rows);
    if (!this.directions.includes(this.direction)) [this.direction] = this.directions;
    this.panels = data.panels.map(({ kind, data: own, fault }) =>
      panelOf(kind, () => {
        if (fault) throw fault;
        return PANELS[kind].make(this, own);
      }),
    );
    for (const old of before) if (old.replaces) this.each((panel) => panel.replaces?.(old));
    const [main, second] = ["main", "beside"].map((place) => this.elementsAt(place));
    const maps = this.panels.map((panel) => attempt(panel, () => panel.ribbons)).filter(Boolean);
    const pooled = this.panels.find(hasBars);
    const text = new TextPanel(this, maps, pooled);
    this.reason = data.why ? new Reason(this) : null;
    this.verdict = drawVerdict(data.verdict, data.notices, this.reason, this.correct);
    this.doors = data.why ? Object.keys(DOORS).map((place) => this.door(place)) : [];
    this.panels.unshift(text); // the others take the remaining room
    if (this.reason) this.panels.unshift(this.reason);
    this.each((panel) => panel.ready?.());
    return [
      this.verdict,
      text.element,
      second.length ? html("div.side-by-side.halves", html("div", main), html("div", second)) : main,
      this.doors,
    ]
      .flat()
      .filter(Boolean);
  }

  elementsAt(place) {
    return this.panels.filter((_, i) => this.data.panels[i].place === place).map(({ element }) => element);
  }

  // The explanatory sentence, for saved figures.
  get conclusion() {
    return this.reason?.conclusion;
  }

  // In Details, which only a page with questions has.
  get gathers() {
    return Boolean(this.data.why);
  }

  // The contents of a closed door are neither drawn nor requested.
  door(place) {
    const [title, hint] = DOORS[place];
    const element = html(
      "details.door",
      { "data-place": place, open: this.isOpen(place) },
      html("summary", { onclick: (event) => this.toggle(event, place) }, html("h2", title), html("span.soft", hint)),
      this.elementsAt(place),
    );
    this.panels.forEach((panel, i) => {
      if (this.data.panels[i].place === place) panel.door = element;
    });
    if (place === "details") this.panels.push(new Tools(this, element));
    return element;
  }

  isOpen(place) {
    return (this.asked.open ?? "").split(" ").includes(place);
  }

  // Immediately, not after the browser's own toggle: a server response may come in between.
  toggle(event, place) {
    event.preventDefault();
    const open = Object.keys(DOORS).filter((door) => this.isOpen(door) !== (door === place));
    this.ask({ open: open.join(" ") || "none" });
    this.refit();
  }

  /**
   * Calls panels; a sentence replaces one that fails.
   * @param {(panel: import("./panel.js").Panel) => void} act
   */
  each(act, panels = this.panels ?? []) {
    for (const panel of panels) attempt(panel, () => act(panel));
  }

  get drawnPanels() {
    return this.panels.filter(({ door }) => !door || door.open);
  }

  // The controls that switch direction, in each matrix's heading.
  turns(rows) {
    return this.directions
      .filter((role) => role !== rows)
      .map((role) => linkButton(`Where ${the(role)} looks`, `Show where ${the(role)} looks`, () => this.turnTo(role)));
  }

  // The current direction, null for the first one.
  get looking() {
    return this.direction === this.directions[0] ? null : this.direction;
  }

  // Sends the selection and all settings to the server.
  tell(more, wait = 0) {
    const { selection, explicit, looking: direction } = this;
    this.send({ select: explicit ? selectionName(selection) : null, direction, ...this.asked, ...more }, wait);
  }

  select(part, { soon = false } = {}) {
    this.explicit = true;
    this.selection = { row: part.row ?? null, column: part.column ?? null };
    this.draw();
    this.each((panel) => panel.reveal?.(), this.drawnPanels);
    this.tell({}, soon ? 250 : 0);
  }

  // A click selects; a second one deselects. The page's own selection becomes the user's: it may have been made just
  // before the click.
  pick(part) {
    const again = this.explicit && ["row", "column"].every((axis) => (part[axis] ?? null) === this.selection[axis]);
    this.select(again ? {} : part);
  }

  undo() {
    if (this.selection.row !== null || this.selection.column !== null) this.select({});
  }

  // Requests another pair: this one with a changed word. `stays`: the words to select in the new pair.
  edit(change, stays = {}) {
    const name = selectionName(stays);
    this.tell({ edit: change, select: name === "none" ? null : name }, 0);
    this.edited = this.turn;
  }

  // Tells the page which class the user says is right.
  correct = (label) => this.tell({ correct: label }, 0);

  // Whether the page is still waiting for a change.
  get editing() {
    return (this.edited ?? 0) > (this.data?.turn ?? 0);
  }

  // The chosen direction, in a model with attention in both.
  turnTo(direction) {
    this.direction = direction;
    this.draw();
    this.tell({}, 0);
  }

  draw() {
    for (const door of this.doors) door.open = this.isOpen(door.dataset.place);
    this.each((panel) => {
      if (panel.direction) panel.element.hidden = panel.direction !== this.direction;
    });
    this.each((panel) => panel.prepare?.());
    this.each((panel) => panel.draw(), this.drawnPanels);
    if (this.arranged === this.direction) return;
    // Hidden elements had no size until now.
    this.arranged = this.direction;
    this.refit();
  }

  arrange(width) {
    this.each((panel) => panel.element.hidden || panel.fit?.(width), this.drawnPanels);
  }
}

VIEWS.pair = (root) => new PairView(root);
