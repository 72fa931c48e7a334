// Each word's effect on the verdict: one bar per word, by a method that the user selects.

import { html } from "../../components/create.js";
import { chooser, heading, refill } from "../../components/elements.js";
import { capital, signed } from "../../components/wording.js";
import { saveButtons } from "../../components/save.js";
import { PANELS } from "../../components/view.js";
import { axisLine, barLine, barList, factsOf, rangeOf, wordOf } from "./bars.js";

const COMBINED = "taken-away"; // the default method

class EffectsPanel {
  /**
   * @param {import("../../components/pair.js").PairView} view
   * @param {import("../../components/payloads").Why} frame
   */
  constructor(view, frame) {
    this.view = view;
    this.frame = frame;
    this.first = Object.keys(frame.methods)[0];
    const methods = Object.entries(frame.methods).map(([name, { title, cost }]) => [
      name,
      cost ? `${title} (${cost})` : title,
    ]);
    this.method = chooser(methods, "", (method) => this.choose(method));
    this.after = html("div.soft");
    this.head = html("div");
    this.body = html("div.words-and-bars.halves");
    this.answer = view.answer("why", "Effects …", "word effects");
    this.element = html("section", { "aria-label": this.title }, this.head, this.body, this.after);
  }

  get title() {
    const changed = this.view.data.verdict.what_if;
    return `How each word affects “${this.frame.verdict}”${changed ? ", as trained" : ""}`;
  }

  get asked() {
    const name = this.view.asked.method;
    return { name, ...this.frame.methods[name] };
  }

  // For slow models, all methods at once are requested by selecting them.
  choose(method) {
    this.view.ask(method === COMBINED && this.first !== COMBINED ? { method, drawn: "few" } : { method });
  }

  // The combined method also computes its parts; for slow models each is requested alone.
  wanted({ method, drawn }) {
    const combined = (drawn || this.first === COMBINED) && this.frame.methods[method].combined;
    return { method: combined ? COMBINED : method };
  }

  // Every word with its bar by the selected method; without bars during the computation.
  words() {
    const bars = this.view.bars;
    return this.view.readSides.map((side) => ({
      side,
      words: side.tokens.map((text, index) => wordOf(text, index, bars?.[side.role]?.[index])),
    }));
  }

  // The words are underlined while the bars are behind their door.
  prepare() {
    this.view.question("why", this.wanted(this.view.asked));
  }

  draw() {
    const { view, asked } = this;
    this.method.value = asked.name;
    if (this.headed !== asked.name) {
      this.headed = asked.name;
      refill(this.head, this.heading(asked));
    }
    const sides = this.words();
    this.range = rangeOf(
      sides.flatMap(({ words }) => words),
      view.effects,
    );
    refill(
      this.body,
      sides.map((one) => this.sentence(one)),
    );
    const { completeness } = view.effects ?? {};
    refill(this.after, completeness && view.bars && this.completeness(completeness));
  }

  heading({ name, how, cannot, reading }) {
    const more = [
      html("b", `How: `),
      `${capital(how)}. `,
      "The length is log p of the verdict (of a model with one output, its score) before minus after: of log p, 0.7 halves the probability, 2.3 divides it by ten. ",
      "An effect below 0.05 has a number and no bar. The spread is one standard deviation over the replacements. Words are sorted by the length of their bars; click one to follow it. ",
      html("b", "What it cannot tell: "),
      cannot,
    ];
    const saves = saveButtons(this.view, "effects", () => ({
      file: `effects-${name}`,
      title: `${this.title}: ${how}`,
      elements: [this.body],
    }));
    const chosen = html("label.way.screen.soft", "Method ", this.method);
    const printed = html("span.way.soft.on-paper", this.asked.title);
    return heading([this.title, " ", chosen, printed], reading, more, saves);
  }

  completeness([sum, whole]) {
    const off = this.view.effects.adds_up ? "." : `: the bars are off by ${Math.abs(sum - whole).toFixed(2)} in all.`;
    return `Completeness: the bars add up to ${signed(sum, 2)}; ${this.view.effects.unit === "score" ? "the score" : "log p of the verdict"} minus its value for vectors a thousandth as long is ${signed(whole, 2)}${off}`;
  }

  // The bars of a sentence, longest first.
  sentence({ side, words }) {
    const ranked = this.range.known
      ? [...words].sort((a, b) => Math.abs(b.effect ?? 0) - Math.abs(a.effect ?? 0) || a.index - b.index)
      : words;
    return barList(side.role, [...ranked.map((word) => this.line(side, word)), axisLine(this.range)]);
  }

  line(side, word) {
    const { text, index } = word;
    const on = this.view.selection[side.axis] === index;
    const facts = factsOf(word, this.view.effects, this.frame.verdict);
    const button = html(
      "button.word",
      {
        dir: "auto",
        "data-word": `${side.axis}${index}`,
        class: on && "on",
        "aria-pressed": on,
        "aria-label": facts,
        onclick: () => this.view.pick({ [side.axis]: index }),
      },
      text,
    );
    return barLine(button, word, this.range, facts);
  }
}

PANELS.effects = {
  place: "details",
  asks: () => true,
  make: (view) => new EffectsPanel(view, view.data.why),
};
