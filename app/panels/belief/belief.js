// Can it be believed: computed when a person asks for it, beside the page.

import { legend } from "../../components/colours.js";
import { heading, html, linkButton, moreOnDemand, percent, refill, signed, the } from "../../components/elements.js";
import { Waiting } from "../../components/late.js";
import { saveButtons } from "../../components/save.js";
import { PANELS } from "../../components/view.js";
import { Matrix, aloneIn } from "../attention_map/matrix.js";

const TITLE = "Can it be believed?";
const HOW =
  "Dot: what the verdict loses without a way’s first words; far to the right is good. Ring: what it loses with these words alone; far to the left is good. Lines: the same of random orders (dashed: alone).";
const MORE =
  "Each way ranks the words of both texts together. The 1, 2 and 3 first words, then 20 and 50 %, are dropped (comprehensiveness), or all others are (sufficiency), and p of the verdict before minus after is averaged: the area over the perturbation curve of DeYoung and others (2020, ERASER, section 4). We let each text keep at least its first-ranked word, because a model of pairs has no answer to half a pair. The lines are the means of 20 random orders: a way whose dot lies left of its line is worse than chance. What it cannot tell: a text with most words gone is none that the model was trained with, and a way that drops words to rank them is favoured by a measure that drops words.";

// One of two maps side by side: small cells.
class SmallMatrix extends Matrix {
  get sizes() {
    const side = 15 * this.view.type;
    return { most: side, least: side };
  }
}

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
      this.matrices = [];
      refill(this.body, known && this.all(known));
      this.fit(this.element.clientWidth);
    }
    const { believed: asked } = view.asked;
    this.waiting.draw(!asked || Boolean(known), view.news);
    if (asked === this.asked) return;
    this.asked = asked;
    refill(this.state, asked ? this.waiting.element : this.offer());
  }

  fit(width) {
    for (const matrix of this.matrices) matrix.build(width, Infinity);
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
      "dl.mid",
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
      "ol.erasing.bar-lines.mid",
      html(
        "li.names.small",
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
    const figure = (name, weights) => {
      const chosen = () => matrix.draw();
      const map = { rows: "row", columns: "column", weights, values: weights, low: 0, high };
      const matrix = new SmallMatrix(aloneIn(this.view, words, map.rows, chosen), map);
      matrix.frame.setAttribute("aria-label", `${name}, ${where}`);
      this.matrices.push(matrix);
      return html("figure.attention_map", html("figcaption.small", name), matrix.frame, matrix.tip.element); // its style
    };
    return html(
      "div.pair",
      html("div.soft.of-maps", `Where attention goes, ${where}`),
      html("div.wraps.maps", figure("The model’s own", own), figure("The adversary’s, with the same answer", other)),
      legend("weight, this pair’s scale", "0\u00a0%", percent(high)),
    );
  }
}

PANELS.belief = (view, frame) => new BeliefPanel(view, frame);
