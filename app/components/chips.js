// A sentence's words as buttons: a click selects a word everywhere, the arrow keys move along the sentence.

import { directionOf, html, plural, svg, the } from "./elements.js";
import { inkOf, label } from "./save.js";

export class WordChips {
  // `side`: the sentence; `describe(index)`: what a screen reader says of a word beside it; `hover(index or null)`.
  constructor(view, side, { describe, hover, inside } = {}) {
    Object.assign(this, { view, side, axis: side.axis });
    this.leftwards = directionOf(side.tokens) === "rtl";
    const unknown = new Set(side.unknown);
    this.chips = side.tokens.map((token, index) =>
      html(
        "button",
        {
          type: "button",
          class: `chip${unknown.has(index) ? " unknown" : ""}`,
          tabindex: index ? "-1" : "0",
          "aria-pressed": "false",
          dir: "auto",
          "data-index": index,
          "aria-label": describe?.(index),
          title:
            [
              describe?.(index),
              unknown.has(index) ? "Not in the word table: its vector was made from its letters" : null,
            ]
              .filter(Boolean)
              .join(". ") || null,
          onclick: () => view.pick({ [this.axis]: index }),
          onpointerenter: () => hover?.(index),
          onpointerleave: () => hover?.(null),
        },
        token,
        inside?.(index),
      ),
    );
    this.cut = cutMark(side.tokens.length);
    this.element = html(
      "div",
      {
        class: "chips",
        role: "group",
        dir: this.leftwards ? "rtl" : null,
        "aria-label": `Words of ${the(side.role)}`,
        onkeydown: (event) => this.step(event),
      },
      this.chips.map((chip, index) =>
        index && side.lines?.includes(index)
          ? [html("span", { class: "line-break", "aria-hidden": "true" }), chip]
          : chip,
      ),
      side.truncated
        ? html("span", { class: "cut" }, `… ${plural(side.truncated, "more word was", "more words were")} cut`)
        : null,
    );
  }

  step(event) {
    const { chips } = this;
    const right = this.leftwards ? -1 : 1;
    const move = {
      ArrowRight: right,
      ArrowDown: 1,
      ArrowLeft: -right,
      ArrowUp: -1,
      Home: -chips.length,
      End: chips.length,
    }[event.key];
    if (!move) return;
    event.preventDefault();
    const next = Math.min(chips.length - 1, Math.max(0, chips.indexOf(event.target) + move));
    this.reach(chips[next]);
    chips[next].focus();
    this.view.select({ [this.axis]: next }, { soon: true });
  }

  // The one chip in the tab order.
  reach(chip) {
    for (const other of this.chips) other.tabIndex = other === chip ? 0 : -1;
  }

  draw() {
    this.chips.forEach((chip, i) => {
      const on = this.view.selection[this.axis] === i;
      chip.setAttribute("aria-pressed", String(on));
      if (on) this.reach(chip);
    });
  }
}

// A long sentence scrolls inside of its own frame, which ends between two lines; `cut` says so. `whole`: not now.
export function clipLines({ element, chips, cut }, lines, whole = false) {
  const { scrollTop } = element;
  element.style.maxHeight = "";
  const line =
    Math.min(...chips.slice(0, 40).map((chip) => chip.offsetHeight)) +
    (parseFloat(getComputedStyle(element).rowGap) || 0);
  const tall = !whole && line > 4 && element.scrollHeight > (lines + 0.5) * line;
  if (tall) element.style.maxHeight = `${lines * line}px`;
  element.scrollTop = scrollTop;
  element.classList.toggle("clipped", tall);
  cut.hidden = !tall;
}

export const cutMark = (count) =>
  html("span", { class: "cut more-below", hidden: true }, `${count} words: scroll to see all`);

// Words, roles and bars as they are drawn now, for a saved figure.
export function drawnWords(view, stage) {
  const range = document.createRange();
  const box = stage.getBoundingClientRect();
  return Array.from(stage.querySelectorAll(".chip, .role, .weight"))
    .map((node) => {
      const at = node.getBoundingClientRect();
      const style = getComputedStyle(node);
      const [x, y] = [at.left - box.left + 10, at.top - box.top + 10];
      const frame = (more) =>
        svg("rect", { x, y, width: at.width, height: at.height, fill: style.backgroundColor, ...more });
      if (node.matches(".weight")) return frame({ stroke: style.borderTopColor });
      const chip = node.matches(".chip");
      const pressed = chip && node.getAttribute("aria-pressed") === "true";
      range.selectNodeContents(chip ? node.firstChild : node);
      const text = range.getBoundingClientRect();
      return [
        chip ? frame({ rx: 5, stroke: pressed ? inkOf(view, "accent") : "none", "stroke-width": 2 }) : null,
        label(text.left + text.width / 2 - box.left + 10, text.top + text.height / 2 - box.top + 10, node.textContent, {
          fill: style.color,
          "font-size": style.fontSize,
          "text-anchor": "middle",
          "dominant-baseline": "central",
        }),
      ];
    })
    .flat(Infinity);
}
