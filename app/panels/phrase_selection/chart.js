// The bars of aᵢ of one sentence: phrases in the paper's order, grouped by their last word; two lanes below mark what
// k-min and k-max keep.

import { capital, html, plural, shorten, svg, the } from "../../components/elements.js";
import { POOLINGS, POOLING_NAMES, phraseName, phraseOf } from "./phrases.js";

// Sizes in pixels; `type`: how many times as large as usual.
function chartSizes(type) {
  const [top, tall, lane, foot] = [8, 92 * type, 13 * type, 22 * type];
  const lanes = { kmin: top + tall + 9 * type, kmax: top + tall + 9 * type + lane };
  return {
    least: 7,
    most: 22 * type,
    gap: 6,
    top,
    tall,
    lanes,
    foot,
    letters: 12.5 * type,
    marks: 12 * type,
    axis: 46 * type,
    height: lanes.kmax + lane + foot,
  };
}

const measureText = (() => {
  const pen = document.createElement("canvas").getContext("2d");
  return (text, letters) => {
    pen.font = `${letters}px sans-serif`;
    return pen.measureText(text).width;
  };
})();

export class BarChart {
  constructor(view, side) {
    Object.assign(this, { view, side, at: 0, sizes: chartSizes(view.type) });
    const { role, tokens, phrases } = view.data.sides[side];
    this.tokens = tokens;
    this.phrases = phrases;
    this.frame = html("div.chart.scroll", { "data-side": side });
    this.scrolls = html("span", { hidden: true }, ": scroll inside the frame");
    const count = html("small", plural(phrases.length, "phrase", "phrases"), this.scrolls);
    this.element = html("div.bars-of", { "data-role": role }, html("div.role", `${capital(role)} `, count), this.frame);
    this.listen();
  }

  // Left edges and widths of the bars; a group is as wide as its word.
  layout(width) {
    const groups = [];
    this.phrases.forEach(([, last], index) => {
      if (!groups.length || groups[groups.length - 1].last !== last) groups.push({ last, from: index, count: 0 });
      groups[groups.length - 1].count += 1;
    });
    const room = width - this.sizes.axis - groups.length * this.sizes.gap - 2;
    const bar = Math.min(this.sizes.most, Math.max(this.sizes.least, Math.floor(room / this.phrases.length)));
    let x = 2;
    this.lefts = [];
    for (const group of groups) {
      group.word = shorten(this.tokens[group.last - 1], 14);
      const wide = Math.max(group.count * bar, measureText(group.word, this.sizes.letters) + 2);
      group.x = x;
      group.width = wide;
      for (let i = 0; i < group.count; i += 1) this.lefts.push(x + (wide - group.count * bar) / 2 + i * bar);
      x += wide + this.sizes.gap;
    }
    return { groups, bar, across: x };
  }

  y(value) {
    const { start } = this.view.scale;
    return this.sizes.top + this.sizes.tall * (1 - Math.max(0, value - start) / (1 - start));
  }

  build(width) {
    const { groups, bar, across } = this.layout(width);
    this.bar = bar;
    this.scrolls.hidden = this.sizes.axis + across <= width;
    const base = this.sizes.top + this.sizes.tall;
    const { ticks } = this.view.scale;
    this.axis = svg(
      "svg.axis",
      { width: this.sizes.axis, height: this.sizes.height, "aria-hidden": "true" },
      ticks.map((tick) =>
        svg(
          "text",
          {
            x: this.sizes.axis - 6,
            y: this.y(tick),
            "text-anchor": "end",
            "dominant-baseline": "central",
            "font-size": this.sizes.marks,
          },
          tick.toFixed(1).replace("-", "\u2212"),
        ),
      ),
      POOLINGS.map((pooling) =>
        svg(
          "text",
          {
            x: this.sizes.axis - 6,
            y: this.sizes.lanes[pooling] + 6,
            "text-anchor": "end",
            "dominant-baseline": "central",
            "font-size": this.sizes.marks,
          },
          POOLING_NAMES[pooling],
        ),
      ),
    );
    this.bars = svg("g.kept-bars", { "aria-hidden": "true" });
    this.marks = svg("g.marks", { "aria-hidden": "true" });
    this.hits = svg(
      "g",
      {
        role: "listbox",
        "aria-label": `Best alignment scores of the phrases of ${the(this.view.data.sides[this.side].role)}`,
        "aria-orientation": "horizontal",
      },
      this.lefts.map((x, i) =>
        svg("rect.hit", {
          x,
          y: 0,
          width: bar,
          height: this.sizes.height - this.sizes.foot + 2,
          fill: "transparent",
          role: "option",
          tabindex: i === this.at ? 0 : -1,
          "aria-selected": "false",
          "aria-label": this.view.phrases.describe(this.view.k, this.side, i),
          "data-phrase": phraseName({ side: this.side, index: i }),
        }),
      ),
    );
    this.body = svg(
      "svg.body",
      { width: Math.max(across, width - this.sizes.axis), height: this.sizes.height },
      svg(
        "g",
        { "aria-hidden": "true" },
        ticks.map((tick) => svg("line.grid", { x1: 0, x2: across, y1: this.y(tick), y2: this.y(tick) })),
        this.lefts.map((x, i) =>
          svg("rect.score", {
            x: x + 0.75,
            y: this.y(this.phrases[i][3]),
            width: bar - 1.5,
            height: Math.max(1, base - this.y(this.phrases[i][3])),
          }),
        ),
        POOLINGS.map((pooling) =>
          svg("line.lane", { x1: 0, x2: across, y1: this.sizes.lanes[pooling] + 6, y2: this.sizes.lanes[pooling] + 6 }),
        ),
        groups.map((group) => {
          const text = svg(
            "text.last",
            {
              x: group.x + group.width / 2,
              y: this.sizes.height - 6,
              "text-anchor": "middle",
              "font-size": this.sizes.letters,
              "data-word": group.last - 1,
            },
            group.word,
          );
          text.append(svg("title", this.tokens[group.last - 1]));
          return text;
        }),
      ),
      this.bars,
      this.marks,
      this.hits,
    );
    this.frame.replaceChildren(html("div.pin", this.axis), this.body);
    this.drawKept();
    this.drawFocus();
  }

  // For another k: the kept bars get a colour and a pattern, and a sign in their lane.
  drawKept() {
    if (!this.body) return;
    const { phrases, k } = this.view;
    const base = this.sizes.top + this.sizes.tall;
    const poolings = new Map(
      POOLINGS.flatMap((pooling) => phrases.pooled(pooling, k, this.side)).map((index) => [
        index,
        phrases.poolingsOf(k, this.side, index),
      ]),
    );
    this.bars.replaceChildren(
      ...[...poolings].flatMap(([index, by]) => {
        const wide = (this.bar - 1.5) / by.length;
        const top = Math.min(this.y(this.phrases[index][3]), base - 1);
        return by.flatMap((pooling, place) => {
          const x = this.lefts[index] + 0.75 + place * wide;
          const sign = Math.min(9, this.bar);
          const middle = this.lefts[index] + this.bar / 2;
          const y = this.sizes.lanes[pooling] + 6;
          const points =
            pooling === "kmin"
              ? `M${middle - sign / 2},${y - 4}h${sign}l${-sign / 2},8.5Z`
              : `M${middle},${y - 4.5}l${sign / 2},8.5h${-sign}Z`;
          const drawn = [
            svg("rect", { class: pooling, x, y: top, width: wide, height: base - top }),
            svg("path", { class: pooling, d: points }),
          ];
          if (pooling === "kmin") {
            const lines = [];
            for (let at = base - 4; at > top + 1; at -= 4) lines.push(`M${x},${at}h${wide}`);
            drawn.push(svg("path.stripes", { d: lines.join(""), fill: "none" }));
          }
          return drawn;
        });
      }),
    );
    for (const index of new Set([...(this.described || []), ...poolings.keys()]))
      this.hits.children[index].setAttribute("aria-label", phrases.describe(k, this.side, index));
    this.described = [...poolings.keys()];
  }

  drawFocus() {
    if (!this.body) return;
    const { focus, partner, pinned } = this.view;
    const outline = (at, kind) =>
      at && at.side === this.side
        ? ["halo", kind].map((name) =>
            svg("rect", {
              class: name,
              x: this.lefts[at.index] - 1,
              y: 2,
              width: this.bar + 2,
              height: this.sizes.height - this.sizes.foot,
              rx: 3,
              fill: "none",
            }),
          )
        : [];
    this.marks.replaceChildren(...outline(partner, "partner"), ...outline(focus, "mark"));
    this.body.querySelectorAll(".last").forEach((text) => {
      const of = [focus, partner].find((at) => at && at.side === this.side);
      text.classList.toggle("on", Boolean(of) && this.phrases[of.index][1] - 1 === Number(text.dataset.word));
    });
    for (const hit of this.hits.querySelectorAll('[aria-selected="true"]')) hit.setAttribute("aria-selected", "false");
    if (pinned && pinned.side === this.side) {
      this.hits.children[pinned.index].setAttribute("aria-selected", "true");
      this.reach(pinned.index);
    }
  }

  // The one bar in the tab order.
  reach(index) {
    this.hits.children[this.at].setAttribute("tabindex", "-1");
    this.at = index;
    this.hits.children[index].setAttribute("tabindex", "0");
  }

  // Scroll the frame, not the page, until the bar is clear of the fixed axis.
  reveal(index) {
    const x = this.lefts[index];
    const { frame } = this;
    if (x - 20 < frame.scrollLeft) frame.scrollLeft = x - 60;
    else if (x + 40 > frame.scrollLeft + frame.clientWidth - this.sizes.axis)
      frame.scrollLeft = x + 100 - frame.clientWidth + this.sizes.axis;
  }

  focus(index) {
    this.reach(index);
    this.reveal(index);
    this.hits.children[index].focus({ preventScroll: true });
  }

  listen() {
    const bar = (event) => phraseOf(event.target.dataset?.phrase);
    this.frame.addEventListener("pointerover", (event) => this.view.hover(bar(event), event.target));
    this.frame.addEventListener("pointerleave", () => this.view.hover(null));
    this.frame.addEventListener("click", (event) => bar(event) && this.view.pin(bar(event)));
    this.frame.addEventListener(
      "focusin",
      (event) => bar(event) && event.target.matches(":focus-visible") && this.view.hover(bar(event), event.target),
    );
    this.frame.addEventListener("focusout", () => this.view.hover(null));
    this.frame.addEventListener("keydown", (event) => this.key(event, bar(event)));
  }

  key(event, at) {
    if (!at) return;
    const last = this.phrases.length - 1;
    const next = { ArrowLeft: at.index - 1, ArrowRight: at.index + 1, Home: 0, End: last }[event.key];
    if (next !== undefined) this.focus(Math.min(last, Math.max(0, next)));
    else if (["ArrowUp", "ArrowDown"].includes(event.key))
      this.view.figure.charts[1 - this.side].focus(this.view.phrases.partner(at.side, at.index));
    else if (["Enter", " "].includes(event.key)) this.view.pin(at);
    else return;
    event.preventDefault();
  }
}
