// Both sentences under k-min and under k-max, side by side: words marked by how many kept phrases cover them, and the
// kept phrases in the order of the text (the paper's fake sentence).

import { clipLines, cutMark } from "../../components/chips.js";
import { LONG, capital, directionOf, heading, html, plural, svg } from "../../components/elements.js";
import { inkOf, label, saveButtons } from "../../components/save.js";
import { POOLINGS, POOLING_NAMES, phraseName, poolingSign } from "./phrases.js";

const KEPT_LINES = 7; // of a long sentence are shown, the others scroll

export class KeptPanel {
  constructor(view) {
    this.view = view;
    this.columns = POOLINGS.map((pooling) => this.column(pooling));
    const how = "A stronger mark: more of the kept phrases cover the word. Below it the kept phrases in order.";
    const more =
      "Each phrase of up to 7 words looks for its best partner in the other sentence (aᵢ, the largest cosine). k-min keeps the k phrases whose best partner fits least, " +
      "k-max the k that fit best; of equal scores the earlier. The rest of the model reads only the kept phrases, in the order of the text (by last word, shortest first), like a sentence of phrases. " +
      "Point at a phrase to see its partner; a click keeps it selected. A dotted line under a word: the word table does not know it.";
    const long = view.data.sides.some((side) => side.tokens.length > LONG);
    this.element = html(
      "section",
      { class: `kept${long ? " long" : ""}`, "aria-label": "What each pooling keeps" },
      html(
        "div",
        { class: "columns" },
        this.columns.map((column) => column.element),
      ),
      heading(null, how, more),
    );
  }

  column(pooling) {
    const title = html("h2", {});
    const sides = this.view.data.sides.map((side, place) => this.side(pooling, side, place));
    const element = html(
      "section",
      { class: `column ${pooling}`, "data-pooling": pooling, "aria-label": POOLING_NAMES[pooling] },
      html(
        "div",
        { class: "title" },
        poolingSign(pooling),
        title,
        html(
          "span",
          { class: "saves" },
          this.saves(pooling, () => sides),
        ),
      ),
      sides.map(({ block, rebuilt }) => [block, rebuilt]),
    );
    return { pooling, title, sides, element };
  }

  // One half as a figure: words marked as they are on the page, and the kept phrases below them.
  saves(pooling, sides) {
    const name = POOLING_NAMES[pooling];
    return saveButtons(
      this.view,
      `half of ${name}`,
      () => `${pooling}-k${this.view.k}`,
      (ink) => {
        const { phrases, k, data } = this.view;
        const wide = 640;
        const colour = inkOf(this.view, pooling);
        let y = 22;
        const out = [
          label(12, y, this.columns.find((column) => column.pooling === pooling).title.textContent, {
            fill: ink,
            "font-weight": 600,
          }),
        ];
        // Words or phrases in lines, each in a frame.
        const flow = (texts, frame) => {
          let x = 12;
          y += 12;
          texts.forEach((text, i) => {
            const across = 7.4 * Array.from(text).length + 14;
            if (x > 12 && x + across > wide - 12) {
              x = 12;
              y += 28;
            }
            out.push(
              svg("rect", { x, y, width: across, height: 22, rx: 4, ...frame(i) }),
              label(x + across / 2, y + 15.5, text, { fill: ink, "text-anchor": "middle", "font-size": 13.5 }),
            );
            x += across + 6;
          });
          y += 22;
        };
        data.sides.forEach((side, place) => {
          const pooled = phrases.pooled(pooling, k, place);
          y += 26;
          out.push(label(12, y, capital(side.role), { fill: ink, "font-size": 12.5 }));
          flow(side.tokens, (word) => ({
            fill: colour,
            "fill-opacity": 0.05 + 0.4 * (Number(sides()[place].chips[word].style.getPropertyValue("--share")) || 0),
          }));
          y += 22;
          out.push(label(12, y, "Kept phrases in order", { fill: ink, "font-size": 12.5 }));
          flow(
            pooled.map((index) => phrases.text(place, index)),
            () => ({ fill: "none", stroke: colour }),
          );
        });
        return [wide, y + 12, out];
      },
    );
  }

  side(pooling, side, place) {
    const unknown = new Set(side.unknown);
    const chips = side.tokens.map((token, index) =>
      html("span", { class: `chip${unknown.has(index) ? " unknown" : ""}` }, token),
    );
    const dir = directionOf(side.tokens);
    const words = html("div", { class: "chips", dir }, chips);
    if (side.truncated)
      words.append(
        html(
          "span",
          { class: "cut", dir: "ltr" },
          `… ${plural(side.truncated, "more word was", "more words were")} cut`,
        ),
      );
    const cut = cutMark(side.tokens.length);
    const phrases = html("div", {
      class: "phrases",
      dir,
      role: "group",
      "aria-label": `${capital(side.role)}: kept phrases in order, ${POOLING_NAMES[pooling]}`,
    });
    return {
      chips,
      words,
      cut,
      phrases,
      block: html(
        "div",
        { class: "side", "data-role": side.role, "data-side": place },
        html("span", { class: "role" }, capital(side.role)),
        words,
        cut,
      ),
      rebuilt: html(
        "div",
        { class: "rebuilt", "data-side": place },
        html("span", { class: "role" }, "kept phrases in order"),
        phrases,
      ),
    };
  }

  fit() {
    for (const { words, chips, cut } of this.columns.flatMap(({ sides }) => sides))
      clipLines({ element: words, chips, cut }, KEPT_LINES);
  }

  // For another k: marks and kept phrases.
  drawKept() {
    const { phrases, k } = this.view;
    for (const { pooling, title, sides } of this.columns) {
      const degree = pooling === "kmin" ? "least" : "best";
      const most = Math.max(...sides.map((_, place) => phrases.pooled(pooling, k, place).length));
      const what =
        most < k
          ? `all: neither sentence has ${k} phrases`
          : k === 1
            ? `the ${degree} matched phrase of each sentence`
            : `the ${k} ${degree} matched phrases of each sentence`;
      title.textContent = `${POOLING_NAMES[pooling]} keeps ${what}`;
      sides.forEach((side, place) => {
        const pooled = phrases.pooled(pooling, k, place);
        const covers = side.chips.map(() => 0);
        for (const index of pooled) {
          const [first, last] = phrases.span(place, index);
          for (let word = first; word < last; word += 1) covers[word] += 1;
        }
        side.chips.forEach((chip, word) => {
          const count = covers[word];
          chip.style.setProperty("--share", count / pooled.length);
          chip.classList.toggle("covered", count > 0);
          const unknown = chip.classList.contains("unknown") ? " The word table does not know this word." : "";
          chip.title =
            (count
              ? `Covered by ${count} of ${plural(pooled.length, "kept phrase", "kept phrases")}.`
              : "Covered by no kept phrase.") + unknown;
        });
        side.buttons = pooled.map((index) => this.phrase(place, index));
        side.phrases.replaceChildren(...side.buttons);
      });
    }
    this.drawFocus();
  }

  phrase(side, index) {
    const { view } = this;
    const target = { side, index };
    const button = html(
      "button",
      {
        type: "button",
        class: "phrase",
        "data-phrase": phraseName(target),
        "aria-label": view.phrases.describe(view.k, side, index),
        onclick: () => view.pin(target),
        onpointerenter: () => view.hover(target, button),
        onpointerleave: () => view.hover(null),
        onfocus: () => button.matches(":focus-visible") && view.hover(target, button),
        onblur: () => view.hover(null),
      },
      view.phrases.text(side, index),
    );
    return button;
  }

  // Words of the phrase that is looked at, and of its partner in the other sentence.
  drawFocus() {
    const { focus, partner, pinned } = this.view;
    for (const { sides } of this.columns) {
      sides.forEach((side, place) => {
        for (const [name, at] of [
          ["on", focus],
          ["partner", partner],
        ]) {
          const [first, last] = at && at.side === place ? this.view.phrases.span(at.side, at.index) : [0, 0];
          side.chips.forEach((chip, word) => chip.classList.toggle(name, word >= first && word < last));
          if (last > first && focus) this.reveal(side.words, side.chips[first], side.chips[last - 1]);
        }
        for (const button of side.buttons || []) {
          const name = button.dataset.phrase;
          button.classList.toggle("on", Boolean(focus) && name === phraseName(focus));
          button.classList.toggle("partner", Boolean(partner) && name === phraseName(partner));
          button.setAttribute("aria-pressed", String(Boolean(pinned) && name === phraseName(pinned)));
        }
      });
    }
  }

  reveal(frame, first, last) {
    if (frame.scrollHeight <= frame.clientHeight) return;
    const top = first.offsetTop - frame.offsetTop;
    const bottom = last.offsetTop + last.offsetHeight - frame.offsetTop;
    if (top < frame.scrollTop || bottom > frame.scrollTop + frame.clientHeight) frame.scrollTop = top - 8;
  }
}
