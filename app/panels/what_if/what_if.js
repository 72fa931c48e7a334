// What if: changes the selected word, or attention to it, and lists each change with its verdict.

import { html } from "../../components/create.js";
import { heading, linkButton, refill } from "../../components/elements.js";
import { capital, percent, signed, the } from "../../components/wording.js";
import { recordsOf, withChances } from "../../components/evidence.js";
import { Carried, keepsLengths } from "../../components/routes.js";
import { saveButtons } from "../../components/save.js";
import { named } from "../../components/shares.js";
import { PANELS } from "../../components/view.js";
import { AttentionEditor } from "./attention.js";
import { beforeAndAfter, listOfSteps } from "./list.js";

const LONGEST = 60; // characters of an inserted word
const BOTH_TEXTS = (texts) => texts.filter(Boolean).join(" / ");
const QUOTED = (texts) => BOTH_TEXTS(texts.map((text) => text && `“${text}”`));

export class WhatIfPanel {
  constructor(view, data) {
    this.view = view;
    this.data = data;
    const more = [
      "Each change applies to the words after the previous change. Going back undoes the changes after a step; they stay in the list until you make another one. Typing a new sentence clears the list. ",
      `Δp is by how much one change moved the probability of “${data.followed}”, the verdict on the pair as typed. `,
      "The search for the smallest change tries leaving words out and the offered replacements, up to three at once: fewest changes first, then the largest Δp, by the trained model. ",
      data.maps.length &&
        "A change of attention applies to the weights after the previous change: a cell of the matrix by the slider here, or by dragging it up or down. Changing a word ends it, since its cells would then belong to other words; undoing that restores it. A temperature stays. ",
      data.scores.length &&
        "This model attends by scores, followed by a selection or a pooling. A changed match is set on a scale from the lowest possible score (0 %) to the best (100 %); rows are not normalised. Changing a word ends it. ",
      "The page’s address and a saved file contain all changes. Keys: Delete on a word leaves it out, Ctrl + Z undoes, Ctrl + Y redoes. ",
      "What it cannot tell: the model has never seen sentences that no one would write, or rows that no softmax produces.",
    ]
      .filter(Boolean)
      .join("");
    const what = view.directions.length && data.maps.length ? "a word or a cell" : "a word";
    const saves = data.steps.length > 1 ? saveButtons(view, "list of changes", () => this.saved()) : null;
    this.word = html("div.controls");
    this.offers = html("div.offers.wraps", { "aria-live": "polite" });
    this.typed = this.typing();
    this.attention = new AttentionEditor(this);
    this.editor = html(
      "div.editor.mid",
      { role: "group", "aria-label": "Change the selected word" },
      this.word,
      this.typed,
      this.offers,
      data.maps.length ? this.attention.element : null,
    );
    this.whole = html("div.whole.controls.mid.screen", this.ofTheSentences());
    this.smallest = html("div.smallest.mid", { "aria-live": "polite" });
    const trying = data.cost ? `Trying changes, at most ${data.cost} …` : "Trying changes …";
    this.change = view.answer("change", trying, "the smallest change");
    this.offered = view.answer("offers", "Looking up other words …", "words to replace it");
    const looking = "Looking for what carries the difference …";
    this.carried = new Carried(view.answer("routes", looking, "how the model notices", "routes of a change"));
    const notice = (i) => this.noticing(i);
    this.list = data.steps.length > 1 ? listOfSteps(data, (to) => this.go(to), notice) : null;
    this.element = html(
      "section",
      { "aria-label": "What if" },
      heading(null, `Click ${what} above, change it here, and compare the verdicts.`, more, saves),
      this.list && beforeAndAfter(data),
      html("div.screen", this.editor),
      this.whole,
      data.scores.length ? this.attention.element : null,
      data.maps.length + data.scores.length ? this.attention.whole : null,
      data.note && html("p.soft.screen", data.note),
      this.smallest,
      this.list,
      this.carried.element,
    );
    if (view.nextStep) queueMicrotask(() => this.goOn());
  }

  /**
   * @param {string} text
   * @param {string} label
   * @param {(() => void) | null} onclick
   * @param {{ name?: string, [attribute: string]: string | boolean }} more
   */
  button(text, label, onclick, { name = null, ...more } = {}) {
    return html("button.act", { "aria-label": label, "data-name": name, onclick, ...more }, text);
  }

  // Requests edits in their text form. `stays`: the words to select afterwards, by default none.
  make(edits, stays = {}) {
    this.view.edit({ make: [edits].flat() }, stays);
  }

  // Sets the number of edits in effect. The selection stays if no word changes.
  go(to) {
    const { at, data } = this;
    const between = data.steps.slice(Math.min(at, to) + 1, Math.max(at, to) + 1);
    this.view.edit({ to }, between.some(({ words }) => words) ? {} : this.view.selection);
  }

  // Undoes or redoes one edit. Waits until the page has made the previous edit.
  stepBy(by) {
    if (this.view.editing) this.view.nextStep = by;
    else if (this.at + by >= 0 && this.at + by <= this.last) this.go(this.at + by);
  }

  goOn() {
    const by = this.view.nextStep;
    this.view.nextStep = 0;
    this.stepBy(by);
  }

  // A button that asks how the model notices a change in effect, if that keeps the numbers of words.
  noticing(i) {
    const { routes, shown } = this.view.data.why;
    const edit = shown.edits[i - 1];
    if (!routes || !edit || !keepsLengths([edit])) return null;
    const notice = () => {
      this.change = this.change === i ? null : i;
      this.drawNoticed();
    };
    const label = `How does the model notice change ${i}?`;
    return [" ", html("button.link.screen", { "aria-label": label, onclick: notice }, "How is it noticed?")];
  }

  drawNoticed() {
    const { view, change, carried } = this;
    const { head, ...shown } = view.data.why.shown; // eslint-disable-line no-unused-vars
    const { edits } = shown;
    const more = change ? { edits: edits.slice(0, change - 1), change: [edits[change - 1]] } : null;
    view.question("routes of a change", more, shown);
    carried.draw(view);
  }

  get at() {
    return this.data.at;
  }

  get last() {
    return this.data.steps.length - 1;
  }

  // The selected words; for a cell, both.
  get chosen() {
    const { data, selection } = this.view;
    return data.sides
      .filter(({ axis }) => selection[axis] !== null)
      .map((side) => ({ side, index: selection[side.axis], number: this.data.sides.indexOf(side.role) }))
      .filter(({ side, index }) => index < side.tokens.length);
  }

  // The word to change, among the selected ones.
  get now() {
    const { chosen } = this;
    return chosen.find(({ side }) => side.axis === this.axis) ?? chosen[0] ?? null;
  }

  ofTheSentences() {
    const { view, data, at, last } = this;
    const sides = data.sides.map((role) => view.sideOf(role));
    const negations = sides.map((side, number) =>
      this.button(
        sides.length > 1 ? `“not” into ${the(side.role)}` : "Put “not” in",
        `Put “not” into ${the(side.role)}`,
        () => this.make(`negate ${number}`),
        {
          name: `not-${number}`,
          disabled: !side.negatable.length,
          title: side.negatable.length ? null : "This sentence has no verb before which “not” would stand",
        },
      ),
    );
    const steps = [
      this.button("Undo", "Undo the last change", () => this.stepBy(-1), {
        name: "undo",
        "data-after": "",
        disabled: at === 0,
      }),
      this.button("Redo", "Make the undone change again", () => this.stepBy(1), {
        name: "redo",
        "data-after": "",
        disabled: at === last,
      }),
    ];
    const smallest = this.button(
      "Smallest change that flips the verdict",
      "Find the smallest change that flips the verdict",
      () => view.ask({ turns: view.asked.turns ? "" : "on" }),
      { name: "smallest", title: this.data.cost ? `At most ${this.data.cost}` : null },
    );
    this.asks = smallest;
    const exchange = () => this.make("exchange");
    const swap = this.button("Swap the sentences", "Swap both sentences", exchange, { name: "exchange" });
    return [negations, sides.length > 1 ? swap : null, smallest, html("span.history.controls", steps)];
  }

  typing() {
    this.input = html("input", {
      type: "text",
      maxlength: LONGEST,
      placeholder: "another word",
      "aria-label": "Another word",
      "data-name": "typed",
      autocomplete: "off",
      oninput: () => this.allow(),
    });
    const put = (name, text, label, further) => this.button(text, label, () => this.insert(further), { name });
    this.puts = [
      this.button("Replace", "Replace the word with this one", null, { name: "replace", type: "submit" }),
      put("before", "Insert before", "Insert this word before it", 0),
      put("behind", "Insert after", "Insert this word after it", 1),
    ];
    return html(
      "form.typed.controls",
      {
        onsubmit: (event) => {
          event.preventDefault();
          const { now, written } = this;
          if (now && written) this.replace(now, written);
        },
      },
      this.input,
      this.puts,
    );
  }

  // The typed text, with single spaces.
  get written() {
    return this.input.value.trim().split(/\s+/).join(" ");
  }

  allow() {
    for (const button of this.puts) button.disabled = !this.written;
  }

  insert(further) {
    const { now, written } = this;
    if (!now || !written) return;
    const index = now.index + further;
    this.make(`insert ${now.number} ${index} ${written}`, { [now.side.axis]: index });
  }

  replace({ side, number, index }, word) {
    this.make(`replace ${number} ${index} ${word}`, { [side.axis]: index });
  }

  // The word of a chip, which may have keyboard focus without being selected.
  wordOf(chip) {
    const { role } = this.view.data.sides.find(({ axis }) => axis === chip.dataset.axis);
    return { number: this.data.sides.indexOf(role), index: Number(chip.dataset.index) };
  }

  leaveOut({ number, index }) {
    this.make(`drop ${number} ${index}`);
  }

  // The selected word, and the changes that need no other word.
  drawWord(now) {
    const { side, index, number } = now;
    const word = side.tokens[index];
    const others = this.chosen.filter(({ side: other }) => other !== side);
    refill(
      this.word,
      html("bdi.selected", `“${word}”`),
      html("span.soft", `in ${the(side.role)}`),
      others.map(({ side: other, index: place }) =>
        linkButton(`change “${other.tokens[place]}” instead`, `Change “${other.tokens[place]}” instead`, () => {
          this.axis = other.axis;
          this.draw();
        }),
      ),
      this.button("Drop this word", `Drop “${word}” from ${the(side.role)}`, () => this.leaveOut(now), {
        name: "drop",
      }),
      side.negatable.includes(index) &&
        this.button(
          "Insert “not” before it",
          `Insert “not” before “${word}”`,
          () => this.make(`insert ${number} ${index} not`),
          { name: "not" },
        ),
    );
  }

  // Words that could replace it, by their relation to it.
  drawOffers(now) {
    const offered = this.offered.value;
    const own = offered?.words[now.number]?.[now.index] ?? {};
    refill(
      this.offers,
      Object.entries(own).map(([relation, words]) =>
        html(
          "span.controls",
          html("span.soft", capital(relation)),
          words.map((word) =>
            this.button(word, `Replace with “${word}” (${relation})`, () => this.replace(now, word), {
              name: "offer",
            }),
          ),
        ),
      ),
      offered?.note && html("p.soft", offered.note),
    );
  }

  // The changes that flip the verdict, once requested.
  drawSmallest() {
    const { view } = this;
    const asked = Boolean(view.asked.turns);
    view.question("change", asked && {});
    const turns = this.change.value;
    this.asks.setAttribute("aria-expanded", String(asked));
    this.smallest.hidden = !asked;
    if (!asked || turns === this.turns) return;
    this.turns = turns;
    refill(this.smallest, turns ? this.changes(turns) : this.change.element);
  }

  changes(turns) {
    if (!turns.length) return html("p", "This pair has no word that could be dropped or replaced.");
    const [{ before, turned }] = turns;
    const head = turned
      ? `The smallest changes that flip the verdict, each made to ${QUOTED(before)}:`
      : `No change of up to three words flips the verdict. The one that weakens it most, made to ${QUOTED(before)}:`;
    return [
      html("p.soft", html("bdi", head)),
      html(
        "ul",
        turns.map((turn) => this.turn(turn)),
      ),
    ];
  }

  turn({ edits, described, after, verdict, chance, turned, probability, lost }) {
    const what = described.join(", ");
    const { explanation, verdict: shown } = this.view.data;
    const { label } = shown.classes[explanation.labels.indexOf(verdict)];
    return html(
      "li",
      this.button("Apply", `Apply the change: ${what}`, () => this.make(edits), { name: "apply" }),
      html(
        "span",
        html("bdi", what),
        ": ",
        html("b", `${label} ${percent(chance)}`),
        html(
          "span.soft",
          `${turned ? `, ${this.own} ${percent(probability)}` : ""}, Δp of ${this.own} ${signed(-lost, 2)}`,
        ),
        html("br"),
        html("bdi", BOTH_TEXTS(after)),
      ),
    );
  }

  // The unchanged model's verdict on the current pair.
  get own() {
    return this.view.data.why.verdict;
  }

  draw() {
    const { now } = this;
    this.editor.hidden = !now;
    const key = now && [now.side.role, now.side.axis, now.index, this.chosen.length].join();
    if (key !== this.drawn) {
      this.drawn = key;
      this.input.value = "";
      this.allow();
      if (now) this.drawWord(now);
    }
    this.view.question("offers", now && {});
    const offers = `${key} ${Boolean(this.offered.value)}`;
    if (now && offers !== this.offers_drawn) {
      this.offers_drawn = offers;
      this.drawOffers(now);
    }
    this.attention.draw();
    this.drawSmallest();
    this.drawNoticed();
  }

  // Cells can be dragged in the matrix while the door is closed, too.
  ready() {
    this.attention.listen();
  }

  // Keyboard shortcuts of the page.
  shortcut(event) {
    const inside = event.composedPath()[0];
    if (inside.matches?.('input:not([type="range"]), textarea')) return; // fields with an undo of their own
    const control = event.ctrlKey || event.metaKey;
    const again = control && (event.key === "y" || (event.shiftKey && event.key.toLowerCase() === "z"));
    if (event.key === "Delete" && inside.matches?.(".chip")) this.leaveOut(this.wordOf(inside));
    else if (again && (this.view.editing || this.at < this.last)) this.stepBy(1);
    else if (!again && control && event.key === "z" && (this.view.editing || this.at)) this.stepBy(-1);
    else return;
    event.preventDefault();
  }

  saved() {
    return { file: "what-if", title: "What if: changes of the pair, each with its verdict", elements: [this.list] };
  }
}

/**
 * The steps with their classes and the changes of the followed class, and the maps that can be edited: none of an
 * external model, whose maps have no scores.
 * @param {import("../../components/evidence.js").Explanation} explanation
 * @param {Pick<import("../../components/evidence.js").Page, "verdict" | "why">} page
 */
export function whatIfOf(explanation, { verdict, why: { what_if: given, costs } }) {
  const { steps, target, ...rest } = given;
  const maps = recordsOf(explanation.evidence, "attention_map");
  const follows = steps.map(({ probabilities }) => probabilities[target]);
  return {
    ...rest,
    cost: costs.change,
    followed: verdict.classes[target].label,
    maps: maps
      .map(({ rows, columns, weights, scores }, number) => ({ number, rows, columns, weights, scores }))
      .filter(({ weights, scores }) => weights.length && scores.length),
    steps: steps.map(({ probabilities, ...step }, i) => {
      const classes = withChances(verdict.classes, probabilities);
      const { label, p } = named(classes);
      return { ...step, classes, label, p, follows: follows[i], change: i ? follows[i] - follows[i - 1] : null };
    }),
  };
}

PANELS.what_if = {
  place: "what-if",
  asks: () => true,
  make: (view) => new WhatIfPanel(view, whatIfOf(view.data.explanation, view.data)),
};
