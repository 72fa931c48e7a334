// The bars of aᵢ of one sentence: phrases in the paper's order, grouped by their last word; two lanes below mark what
// k-min and k-max keep.

import { html, svg } from "../../components/create.js";
import { reach, refill } from "../../components/elements.js";
import { capital, plural, shorten, the } from "../../components/wording.js";
import { POOLINGS, POOLING_NAMES, phraseName, phraseOf, poolingSign } from "./phrases.js";

const BAR = { least: 7, most: 22 };
const GAP = 6; // between the bars of two words
const AXIS = 46;

// k-min's pattern, as tall as its bar.
const stripes = () => svg("svg.stripes", svg("line", { x1: "50%", x2: "50%", y1: "100%", y2: 0 }));

export class BarChart {
  constructor(view, side) {
    this.view = view;
    this.side = side;
    const { role, tokens, phrases } = view.phrases.sides[side];
    const { start, ticks } = view.scale;
    const height = (score) => `--height:${Math.max(0, score - start) / (1 - start)}`;
    this.phrases = phrases;
    this.hits = phrases.map(({ score }, index) =>
      html("div.hit", {
        role: "option",
        tabindex: index ? -1 : 0,
        "aria-selected": false,
        "data-phrase": phraseName({ side, index }),
        style: height(score),
      }),
    );
    const groups = [...Map.groupBy(this.hits, (_, index) => phrases[index].span[1] - 1)];
    this.words = new Map(
      groups.map(([word]) => [word, html("span.last", { title: tokens[word] }, shorten(tokens[word], 14))]),
    );
    const axis = [
      ticks.map((tick) => html("span", { style: height(tick) }, tick.toFixed(1).replace("-", "\u2212"))),
      POOLINGS.map((pooling) => html(`span.${pooling}`, POOLING_NAMES[pooling])),
    ];
    const lines = [
      ticks.map((tick) => html("i.grid", { style: height(tick) })),
      POOLINGS.map((pooling) => html(`i.grid.${pooling}`)),
    ];
    this.plot = html(
      "div.plot",
      {
        role: "listbox",
        "aria-label": `Best alignment scores of the phrases of ${the(role)}`,
        "aria-orientation": "horizontal",
      },
      lines,
      groups.map(([word, hits]) => html("div.group", html("div", hits), this.words.get(word))),
    );
    this.frame = html(
      "div.chart.scroll",
      { "data-side": side, onkeydown: (event) => this.key(event) },
      html("div.pin.tiny", { "aria-hidden": true }, axis),
      this.plot,
    );
    this.scrolls = html("span.screen", { hidden: true }, ": scroll inside the frame");
    const count = html("small.small", plural(phrases.length, "phrase", "phrases"), this.scrolls);
    const name = html("div.role.soft", `${capital(role)} `, count);
    this.element = html("div.bars-of", { "data-role": role }, name, this.frame);
  }

  build(width) {
    const { type } = this.view;
    const room = width - AXIS * type - this.words.size * GAP - 2;
    const bar = Math.min(BAR.most * type, Math.max(BAR.least, Math.floor(room / this.phrases.length)));
    this.plot.style.setProperty("--bar", `${bar}px`);
    this.scrolls.hidden = this.frame.scrollWidth <= this.frame.clientWidth;
  }

  // After a change of k: kept bars get a colour and a pattern, and a symbol in their lane.
  drawKept() {
    const { phrases, k } = this.view;
    this.hits.forEach((hit, index) => {
      const by = phrases.poolingsOf(k, this.side, index);
      const bars = by.map((pooling) => html(`i.${pooling}`, pooling === "kmin" ? stripes() : null));
      refill(
        hit,
        html("span.score", bars),
        by.map((pooling) => poolingSign(pooling)),
      );
      hit.title = hit.ariaLabel = phrases.describe(k, this.side, index);
    });
  }

  drawFocus() {
    const { focus, partner, pinned } = this.view;
    const here = (at) => (at?.side === this.side ? at.index : null);
    this.hits.forEach((hit, index) => {
      hit.classList.toggle("mark", index === here(focus));
      hit.classList.toggle("partner", index === here(partner));
      hit.setAttribute("aria-selected", String(index === here(pinned)));
    });
    const looked = here(focus) ?? here(partner);
    const last = looked === null ? null : this.phrases[looked][1] - 1;
    this.words.forEach((text, word) => text.classList.toggle("on", word === last));
    if (here(pinned) !== null) reach(this.hits, this.hits[here(pinned)]);
  }

  // Scrolls the frame, not the page, until the fixed axis does not cover the bar.
  reveal(index) {
    const { frame } = this;
    const x = this.hits[index].offsetLeft;
    const room = frame.clientWidth - AXIS * this.view.type;
    if (x - 20 < frame.scrollLeft) frame.scrollLeft = x - 60;
    else if (x + 40 > frame.scrollLeft + room) frame.scrollLeft = x + 100 - room;
  }

  focus(index) {
    reach(this.hits, this.hits[index]);
    this.reveal(index);
    this.hits[index].focus({ preventScroll: true });
  }

  key(event) {
    const at = phraseOf(event.target.dataset.phrase);
    if (!at) return;
    const last = this.phrases.length - 1;
    const next = { ArrowLeft: at.index - 1, ArrowRight: at.index + 1, Home: 0, End: last }[event.key];
    if (next !== undefined) this.focus(Math.min(last, Math.max(0, next)));
    else if (["ArrowUp", "ArrowDown"].includes(event.key))
      this.view.figure.charts[1 - this.side].focus(this.view.phrases.phrase(at.side, at.index).partner);
    else if (["Enter", " "].includes(event.key)) this.view.pin(at);
    else return;
    event.preventDefault();
  }
}
