// Can it be believed: computed when a person asks for it, beside the page.

import { legend, scaleColour } from "../../components/colours.js";
import {
  exactPercent,
  heading,
  html,
  linkButton,
  moreOnDemand,
  percent,
  refill,
  shorten,
  signed,
  svg,
  the,
} from "../../components/elements.js";
import { Waiting } from "../../components/late.js";
import { saveButtons } from "../../components/save.js";
import { PANELS } from "../../components/view.js";

const TITLE = "Can it be believed?";
const HOW =
  "Dot: what the verdict loses without a way’s first words; far to the right is good. Ring: what it loses with these words alone; far to the left is good. Lines: the same of random orders (dashed: alone).";
const MORE =
  "Each way ranks the words of both texts together. The 1, 2 and 3 first words, then 20 and 50 %, are dropped (comprehensiveness), or all others are (sufficiency), and p of the verdict before minus after is averaged: the area over the perturbation curve of DeYoung and others (2020, ERASER, section 4). We let each text keep at least its first-ranked word, because a model of pairs has no answer to half a pair. The lines are the means of 20 random orders: a way whose dot lies left of its line is worse than chance. What it cannot tell: a text with most words gone is none that the model was trained with, and a way that drops words to rank them is favoured by a measure that drops words.";
const CELL = 15; // pixels
const LETTERS = 16; // of a word at an edge

class BeliefPanel {
  constructor(view, { verdict, cost }) {
    this.view = view;
    this.verdict = verdict;
    this.cost = cost ? `at most ${cost}` : "a few seconds";
    this.head = html("div");
    this.waiting = new Waiting("Erasing words and moving attention …", "how far this can be believed", "believed");
    this.state = html("div.state.soft", { "aria-live": "polite" });
    this.body = html("div");
    this.element = html("section", { "aria-label": TITLE }, this.head, this.state, this.body);
  }

  draw() {
    const { view } = this;
    const known = view.asked.believed ? (view.news?.believed ?? null) : null;
    const text = JSON.stringify(known);
    if (text !== this.known) {
      this.known = text;
      refill(this.head, this.heading(known));
      refill(this.body, known && this.all(known));
    }
    const { believed: asked } = view.asked;
    this.waiting.draw(!asked || Boolean(known), view.news);
    if (asked === this.asked) return;
    this.asked = asked;
    refill(this.state, asked ? this.waiting.element : this.offer());
  }

  hear() {
    this.draw();
  }

  offer() {
    return [
      "Erasing what each way names and moving the attention says how far the pictures above can be believed. It takes ",
      `${this.cost}. `,
      linkButton("Compute", "Compute how far this can be believed", () => this.view.ask({ believed: "on" })),
    ];
  }

  heading(known) {
    const title = TITLE;
    if (!known) return html("header", html("div.headline", html("h2", title)));
    const saves = saveButtons(this.view, "measures", () => ({
      file: "believed",
      title: `${title} ${known.sentence}`,
      elements: [this.figure, this.list, ...(this.pairs ?? [])],
    }));
    return heading(title, HOW, MORE, saves);
  }

  all({ sentence, ways, random, facts, maps }) {
    this.figure = this.erasing(ways, random);
    this.pairs = maps.map((one) => this.pair(one));
    this.list = html(
      "dl",
      facts.map(({ name, says, more }) => {
        const [mark, extra] = moreOnDemand(more, `More about: ${name}`);
        return [html("dt", name), html("dd", says, " ", mark, extra)];
      }),
    );
    return [html("p.sentence", sentence), this.figure, this.list, this.pairs.length ? this.pairs : null];
  }

  // A line a way: a dot and a ring on one scale, and both numbers.
  erasing(ways, random) {
    const ends = [random, ...ways].flatMap(({ left, taken }) => [left, taken]);
    const [low, high] = [Math.min(0, ...ends), Math.max(0.1, ...ends)];
    const at = (value) => `left:${(100 * (value - low)) / (high - low)}%`;
    const lines = () => [
      html("i.zero", { style: at(0) }),
      html("i.chance.taken", { style: at(random.taken) }),
      html("i.chance.left", { style: at(random.left) }),
    ];
    const line = ({ title, left, taken, steps }, own) =>
      html(
        "li",
        { title: `${title}. Of words: ${steps.join("; ")}` },
        html("span.name", title),
        html("span.track", lines(), own && [html("i.ring", { style: at(left) }), html("i.dot", { style: at(taken) })]),
        html("span.number", signed(taken, 2)),
        html("span.number", signed(left, 2)),
      );
    return html(
      "ol.erasing.bar-lines",
      html(
        "li.names.soft",
        html("span.name"),
        html("span.track.key", "0 is no loss; p of “", this.verdict, "”"),
        html("span.number", html("i.dot"), " without"),
        html("span.number", html("i.ring"), " alone"),
      ),
      ways.map((way) => line(way, true)),
      line(random, false),
    );
  }

  // The model's own map and the adversary's, side by side.
  pair({ rows, columns, words, own, other, high }) {
    const where = rows === columns ? the(rows) : `${the(rows)} into ${the(columns)}`;
    return html(
      "div.pair",
      html("div.soft.of-maps", `Where attention goes, ${where}`),
      html(
        "div.wraps.maps",
        [
          ["The model’s own", own],
          ["The adversary’s, with the same answer", other],
        ].map(([name, weights]) =>
          html(
            "figure.scroll",
            { tabindex: 0, role: "group", "aria-label": `${name}, ${where}` },
            html("figcaption.small", name),
            smallMatrix(words, weights, high),
          ),
        ),
      ),
      legend("weight", "0\u00a0%", percent(high)),
    );
  }
}

// Weights as cells, with the words along both edges.
function smallMatrix([rows, columns], weights, high) {
  const letters = (words) => Math.max(...words.map((word) => Math.min(LETTERS, Array.from(word).length)));
  const left = letters(rows) * 6.6 + 10;
  const tall = letters(columns) * 4.8 + 14;
  const slack = tall * 0.9;
  const size = { width: left + columns.length * CELL + slack, height: tall + rows.length * CELL + 2 };
  const names = rows.map((word, i) =>
    svg("text", { x: left - 6, y: tall + (i + 0.5) * CELL, "text-anchor": "end", "dominant-baseline": "central" }, [
      shorten(word, LETTERS),
    ]),
  );
  const heads = columns.map((word, j) => {
    const [x, y] = [left + (j + 0.6) * CELL, tall - 5];
    return svg("text", { x, y, transform: `rotate(-45 ${x} ${y})` }, shorten(word, LETTERS));
  });
  const cells = weights.flatMap((row, i) =>
    row.map((weight, j) =>
      svg(
        "rect",
        {
          x: left + j * CELL + 0.5,
          y: tall + i * CELL + 0.5,
          width: CELL - 1,
          height: CELL - 1,
          rx: 1.5,
          fill: scaleColour(weight / high),
        },
        svg("title", `${rows[i]} → ${columns[j]}: ${exactPercent(weight)}`),
      ),
    ),
  );
  return svg("svg", { ...size, "font-size": 11.5 }, names, heads, cells);
}

PANELS.belief = (view, frame) => new BeliefPanel(view, frame);
