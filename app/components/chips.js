// A sentence's words as buttons: a click selects a word everywhere, the arrow keys move along the sentence.

import { html } from "./create.js";
import { directionOf, gridStep, reach } from "./elements.js";
import { plural, the } from "./wording.js";

const LEAST_EFFECT = 0.05; // as a share of the largest; smaller ones have no line

export class WordChips {
  // `side`: the sentence; `describe(index)`: a screen reader's description of a word; `hover(index or null)`.
  constructor(view, side, { describe = null, hover = null, inside = null } = {}) {
    this.view = view;
    this.side = side;
    this.axis = side.axis;
    this.leftwards = directionOf(side.tokens) === "rtl";
    const unknown = new Set(side.unknown);
    this.chips = side.tokens.map((token, index) =>
      html(
        "button.chip",
        {
          class: unknown.has(index) && "unknown",
          tabindex: index ? "-1" : "0",
          "aria-pressed": "false",
          dir: "auto",
          "data-axis": this.axis,
          "data-index": index,
          "aria-label": describe?.(index),
          onclick: () => view.pick({ [this.axis]: index }),
          onpointerenter: () => hover?.(index),
          onpointerleave: () => hover?.(null),
        },
        token,
        inside?.(index),
        html("i.effect", { hidden: true }),
      ),
    );
    this.facts = side.tokens.map((_, index) => [
      describe?.(index),
      unknown.has(index) && "Not in the word table: its vector was made from its letters",
    ]);
    this.cut = cutMark(side.tokens.length);
    this.element = html(
      "div.chips.wraps",
      {
        role: "group",
        dir: this.leftwards ? "rtl" : null,
        "aria-label": `Words of ${the(side.role)}`,
        onkeydown: (event) => this.step(event),
      },
      this.chips.map((chip, index) =>
        index && side.lines?.includes(index) ? [html("span.line-break", { "aria-hidden": "true" }), chip] : chip,
      ),
      truncation(side),
    );
  }

  step(event) {
    const { chips } = this;
    const last = chips.length - 1;
    const at = gridStep(event, [0, chips.indexOf(event.target)], [0, last], this.leftwards ? -1 : 1);
    if (!at) return;
    const next = at[1];
    reach(chips, chips[next]);
    chips[next].focus();
    this.view.select({ [this.axis]: next }, { soon: true });
  }

  // The stronger a word's effect on the verdict, the thicker the line under it: filled where it supports the verdict,
  // hollow where it opposes it.
  underline(line, effect) {
    line.hidden = !effect || effect.share < LEAST_EFFECT;
    if (line.hidden) return;
    line.className = `effect ${effect.kind}`;
    line.style.height = `${Math.round(2 + 4 * effect.share)}px`;
  }

  draw() {
    this.chips.forEach((chip, i) => {
      const on = this.view.selection[this.axis] === i;
      chip.setAttribute("aria-pressed", String(on));
      if (on) reach(this.chips, chip);
      const effect = this.view.effectOf?.(this.side.role, i);
      this.underline(chip.lastChild, effect);
      chip.title = [...this.facts[i], effect?.said].filter(Boolean).join(". ");
    });
  }
}

// A long sentence scrolls inside its own frame, which ends between two lines; `cut` says so.
export function clipLines({ element, chips, cut }, lines) {
  const { scrollTop } = element;
  element.style.maxHeight = "";
  const line =
    Math.min(...chips.slice(0, 40).map((chip) => chip.offsetHeight)) +
    (parseFloat(getComputedStyle(element).rowGap) || 0);
  const tall = line > 4 && element.scrollHeight > (lines + 0.5) * line;
  if (tall) element.style.maxHeight = `${lines * line}px`;
  element.scrollTop = scrollTop;
  element.classList.toggle("clipped", tall);
  cut.hidden = !tall;
}

// The number of words at the end of a sentence that the model does not read.
export const truncation = ({ truncated }) =>
  truncated
    ? html("span.cut.soft", { dir: "ltr" }, `… ${plural(truncated, "more word was", "more words were")} cut`)
    : null;

export const cutMark = (count) =>
  html("span.cut.soft.more-below.screen", { hidden: true }, `${count} words: scroll to see all`);
