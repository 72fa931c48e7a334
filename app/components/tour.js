// Five steps through a page for a person's first visit. It can be left at any step, and called again.

import { html, linkButton } from "./elements.js";

const TOUR_SEEN = "pairlens tour";

export class Tour {
  static seen = null; // by this session's person; a browser that keeps nothing is not asked again

  // `steps`: where each looks (a selector inside the page's root) and what it says.
  constructor(view, steps) {
    this.view = view;
    this.steps = steps;
    this.at = null;
    this.element = html("div.tour.mid", { role: "dialog", "aria-label": "Tour", hidden: true });
  }

  // On a first visit; a browser that keeps nothing is not asked again in this session.
  first() {
    let seen = Tour.seen;
    try {
      seen ||= window.localStorage.getItem(TOUR_SEEN);
    } catch {
      /* a browser may keep nothing */
    }
    if (!seen) this.go(0);
  }

  start() {
    this.go(0);
    this.element.querySelector("button").focus();
  }

  leave() {
    if (this.at === null) return false;
    this.go(null);
    Tour.seen = true;
    try {
      window.localStorage.setItem(TOUR_SEEN, "left");
    } catch {
      /* as above */
    }
    return true;
  }

  get target() {
    return this.at === null ? null : this.view.root.querySelector(this.steps[this.at][0]);
  }

  go(step) {
    this.target?.classList.remove("toured");
    this.at = step;
    this.element.hidden = step === null;
    if (step === null) return;
    const last = step === this.steps.length - 1;
    this.element.replaceChildren(
      html("p", { "aria-live": "polite" }, this.steps[step][1]),
      html(
        "div.steps.headline",
        linkButton(last ? "Done" : "Next", last ? "End the tour" : "Next step", () => {
          if (last) this.leave();
          else this.again(step + 1);
        }),
        step ? linkButton("Back", "Step before", () => this.again(step - 1)) : null,
        last ? null : linkButton("Leave", "Leave the tour", () => this.leave()),
        html("span.small", `${step + 1} of ${this.steps.length}`),
      ),
    );
    this.target?.classList.add("toured");
    if (step) this.target?.scrollIntoView({ block: "nearest" });
  }

  again(step) {
    this.go(step);
    this.element.querySelector("button").focus();
  }
}

export const EXPLORE_TOUR = [
  [
    ".verdict",
    "Type two sentences above, or choose an example in the sidebar. Here is what the model makes of them: its verdict with the probability of every class.",
  ],
  [
    ".text",
    "The words as the model reads them. A ribbon is attention: the wider it is, the more weight a word puts on a word of the other sentence. The line under a word, and its bar below, say something else: how much the verdict loses without it. Click a word to follow it; Escape lets it go.",
  ],
  [
    ".attention_map, .phrase_selection, .pooled_attention",
    "The same in numbers, one cell for each pair of words. Point at a cell for its weight; the arrow keys walk from cell to cell. “Matrix shows” in the sidebar has the scores before the softmax.",
  ],
  [
    ".attentive_context, .filter_provenance",
    "What the selected word takes in from the other sentence, on a scale from 0 to 100 %.",
  ],
  [
    ".filter_provenance, footer",
    "Which words won the filters, and how their shares add up to the verdict. Figures and numbers can be saved, and the address holds what is on screen: send it as a link.",
  ],
];
