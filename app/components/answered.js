// A panel of one answer: its title and progress until the answer arrives, then its figure. One that takes long is offered,
// and computed on request.

import { html } from "./create.js";
import { linkButton, refill } from "./elements.js";

/** @template {keyof import("./payloads").Answers} Kind */
export class AnsweredPanel {
  /**
   * @param {import("./pair.js").PairView} view
   * @param {string} title
   * @param {{ kind: Kind, text: string, noun: string, setting?: string, offer?: string }} question `text`: shown
   *   during the computation; `setting`: the one that requests it; `offer`: what it does, and what it costs
   */
  constructor(view, title, { kind, text, noun, setting, offer }) {
    this.view = view;
    this.title = title;
    this.kind = kind;
    this.setting = setting;
    this.answer = view.answer(kind, text, noun);
    this.offer = offer && [offer, " ", linkButton("Compute", `Compute ${noun}`, () => view.ask({ [setting]: "on" }))];
    this.head = html("div");
    this.state = html("div.soft", { "aria-live": "polite" });
    this.body = html("div");
    this.element = html("section", { "aria-label": title }, this.head, this.state, this.body);
  }

  /**
   * The figure's elements, and its heading unless the figure has its own.
   * @param {import("./ask.js").AnswerTo<Kind>} value
   * @returns {{ heading?: HTMLElement, figure: import("./create.js").Child }}
   */
  figures(value) /* eslint-disable-line no-unused-vars */ {
    return { figure: null };
  }

  draw() {
    const { view, answer, setting } = this;
    const asked = !setting || Boolean(view.asked[setting]);
    view.question(this.kind, asked ? {} : null);
    const { value } = answer;
    if (value !== this.known) {
      this.known = value;
      const untitled = { heading: html("header", html("div.headline", html("h2", this.title))), figure: null };
      const { heading, figure } = value ? this.figures(value) : untitled;
      refill(this.head, heading);
      refill(this.body, figure);
    }
    if (asked === this.asked) return;
    this.asked = asked;
    refill(this.state, asked ? answer.element : this.offer);
  }
}
