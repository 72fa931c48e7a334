// Both sentences under k-min and k-max, side by side: words marked by the number of kept phrases that cover them, and
// the kept phrases in text order (the paper's fake sentence).

import { clipLines, cutMark, truncation } from "../../components/chips.js";
import { html } from "../../components/create.js";
import { LONG, directionOf, heading } from "../../components/elements.js";
import { capital, plural } from "../../components/wording.js";
import { saveButtons } from "../../components/save.js";
import { POOLINGS, POOLING_NAMES, phraseName, poolingSign } from "./phrases.js";

const KEPT_LINES = 7; // visible lines of a long sentence; the others scroll

export class KeptPanel {
  constructor(view) {
    this.view = view;
    this.columns = POOLINGS.map((pooling) => this.column(pooling));
    const how =
      "A stronger mark: more of the kept phrases cover the word. The kept phrases are listed below, in order.";
    const more =
      "Each phrase of up to 7 words looks for its best partner in the other sentence (aᵢ, the largest cosine). k-min keeps the k phrases with the least similar best partners, " +
      "k-max the k that fit best; of equal scores the earlier. The rest of the model reads only the kept phrases, in the order of the text (by last word, shortest first), like a sentence of phrases. " +
      "Point at a phrase to see its partner; a click keeps it selected. A dotted line under a word: the word table does not know it.";
    const long = view.phrases.sides.some((side) => side.tokens.length > LONG);
    this.element = html(
      "section.kept",
      { class: long && "long", "aria-label": "What each pooling keeps" },
      html(
        "div.columns.halves",
        this.columns.map((column) => column.element),
      ),
      heading(null, how, more),
    );
  }

  column(pooling) {
    const title = html("h2");
    const sides = this.view.phrases.sides.map((side, place) => this.side(pooling, side, place));
    const name = POOLING_NAMES[pooling];
    const saves = saveButtons(this.view, `half of ${name}`, () => ({
      file: `${pooling}-k${this.view.k}`,
      title: title.textContent,
      elements: sides.flatMap(({ block, rebuilt }) => [block, rebuilt]),
    }));
    const element = html(
      `section.column.${pooling}`,
      { "data-pooling": pooling, "aria-label": name },
      html("div.title.headline", poolingSign(pooling), title, html("span.saves", saves)),
      sides.map(({ block, rebuilt }) => [block, rebuilt]),
    );
    return { pooling, title, sides, element };
  }

  side(pooling, side, place) {
    const unknown = new Set(side.unknown);
    const chips = side.tokens.map((token, index) =>
      html("span.chip", { class: unknown.has(index) && "unknown" }, token),
    );
    const dir = directionOf(side.tokens);
    const words = html("div.chips.wraps", { dir }, chips, truncation(side));
    const cut = cutMark(side.tokens.length);
    const phrases = html("div.phrases.wraps.mid", {
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
        "div.side.labelled",
        { "data-role": side.role, "data-side": place },
        html("span.role.soft", capital(side.role)),
        words,
        cut,
      ),
      rebuilt: html(
        "div.rebuilt.labelled",
        { "data-side": place },
        html("span.role.soft", "kept phrases in order"),
        phrases,
      ),
    };
  }

  fit() {
    for (const { words, chips, cut } of this.columns.flatMap(({ sides }) => sides))
      clipLines({ element: words, chips, cut }, KEPT_LINES);
  }

  // After a change of k: marks and kept phrases.
  drawKept() {
    const { phrases, k } = this.view;
    for (const { pooling, title, sides } of this.columns) {
      const degree = pooling === "kmin" ? "least" : "best";
      const most = Math.max(...sides.map((_, place) => phrases.pooled(pooling, k, place).length));
      const what =
        most < k
          ? `all: neither sentence has ${plural(k, "phrase", "phrases")}`
          : k === 1
            ? `the ${degree} matched phrase of each sentence`
            : `the ${k} ${degree} matched phrases of each sentence`;
      title.textContent = `${POOLING_NAMES[pooling]} keeps ${what}`;
      sides.forEach((side, place) => {
        const pooled = phrases.pooled(pooling, k, place);
        const covers = side.chips.map(() => 0);
        for (const index of pooled) {
          const [first, last] = phrases.phrase(place, index).span;
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
    const { phrases, k } = this.view;
    const title = phrases.describe(k, side, index);
    const attributes = { "data-phrase": phraseName({ side, index }), "aria-label": title, title };
    return html("button.phrase", attributes, phrases.text(side, index));
  }

  // Highlights the words of the focused phrase, and of its partner in the other sentence.
  drawFocus() {
    const { focus, partner, pinned } = this.view;
    for (const { sides } of this.columns) {
      sides.forEach((side, place) => {
        for (const [name, at] of [
          ["on", focus],
          ["partner", partner],
        ]) {
          const [first, last] = at?.side === place ? this.view.phrases.phrase(place, at.index).span : [0, 0];
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
