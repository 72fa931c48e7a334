// Two chosen words taken away at once, beside the sum of what each does alone.

import { html, refill, signed } from "../../components/elements.js";
import { Waiting } from "../../components/late.js";

const NAME = /^(\d+)\.(\d+)-(\d+)\.(\d+)$/; // number of the sentence and of its word, twice

export class Together {
  constructor(view) {
    this.view = view;
    this.selects = ["One of two words", "The other of two words"].map((label) =>
      html("select", { "aria-label": label, onchange: () => this.choose() }, this.options()),
    );
    const [one, other] = this.selects;
    this.waiting = new Waiting("Computing …", "two words together", "together");
    this.said = html("div.together-said", { "aria-live": "polite" });
    this.element = html(
      "div.both.soft",
      html("div.wraps.screen", html("span", "Two words together:"), one, html("span", "and"), other),
      this.said,
    );
  }

  get sides() {
    const roles = [...new Set(this.view.data.sides.map(({ role }) => role))];
    return this.view.readSides.map((side) => ({ side, number: roles.indexOf(side.role) + 1 }));
  }

  options() {
    const words = this.sides.map(({ side, number }) =>
      html(
        "optgroup",
        { label: side.role },
        side.tokens.map((text, index) => html("option", { value: `${number}.${index + 1}` }, text)),
      ),
    );
    return [html("option", { value: "" }, "choose a word"), words];
  }

  choose() {
    const [one, other] = this.selects.map(({ value }) => value);
    this.picked = [one, other];
    this.view.ask({ together: one && other && one !== other ? `${one}-${other}` : "" });
  }

  draw() {
    const { together: asked } = this.view.asked;
    this.asked = asked;
    const named = NAME.exec(asked ?? "");
    if (named) this.picked = [`${named[1]}.${named[2]}`, `${named[3]}.${named[4]}`];
    this.selects.forEach((select, i) => {
      select.value = this.picked?.[i] ?? "";
    });
    const news = this.view.news;
    const known = news?.together;
    if (!asked) {
      const [one, other] = this.picked ?? [];
      return refill(this.said, one && one === other && "Choose two different words.");
    }
    if (known?.name === asked) return refill(this.said, this.sentence(known));
    this.waiting.draw(false, news);
    if (this.said.firstChild !== this.waiting.element) refill(this.said, this.waiting.element);
  }

  sentence({ words, together, apart }) {
    const each = words.map(({ text, effect }) => [html("bdi", text), ` ${effect === null ? "–" : signed(effect, 2)}`]);
    if (together === null || apart === null)
      return [each[0], ", ", each[1], ": they cannot be taken away together, because a sentence would have no word."];
    const alike = Math.abs(together - apart) < 0.05 * Math.max(Math.abs(together), Math.abs(apart), 0.1);
    const why = alike
      ? "about the sum."
      : together > apart
        ? "more than the sum, as where two words say the same and hide each other."
        : "less than the sum, as where each needs the other.";
    return [
      html("b", `Together ${signed(together, 2)}`),
      "; alone ",
      each[0],
      " and ",
      each[1],
      `, in sum ${signed(apart, 2)}. Together they do ${why}`,
    ];
  }
}
