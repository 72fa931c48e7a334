// Like these: training rows whose vectors are near the pair's, by class. They come late.

import { heading, html, refill } from "../../components/elements.js";
import { Waiting } from "../../components/late.js";
import { PANELS } from "../../components/view.js";

const TITLE = "Like these";
const MORE =
  "The classifier is linear in the vector that it reads: rows with a cosine near 1 point where your pair points; the label is what the data set says, not the model. If the nearest rows of the right class share words with your pair but not its meaning, the model may have learnt the words. What it cannot tell: that these rows caused the verdict. A cosine is not comparable between models, and rows that are not in the index may lie nearer.";

class LikeThesePanel {
  constructor(view) {
    this.view = view;
    this.waiting = new Waiting("Looking for training rows like this pair …", "rows like this pair", "like");
    this.state = html("div.state.soft", { "aria-live": "polite" }, this.waiting.element);
    this.head = html("div", html("header", html("div.headline", html("h2", TITLE))));
    this.body = html("div.classes");
    this.element = html("section", { "aria-label": TITLE }, this.head, this.state, this.body);
    this.known = null;
  }

  draw() {
    const known = this.view.news?.like ?? null;
    this.waiting.draw(Boolean(known), this.view.news);
    const text = JSON.stringify(known);
    if (!known || text === this.known) return;
    this.known = text;
    refill(this.head, heading(TITLE, how(known), MORE, []));
    refill(
      this.body,
      known.classes.map(({ name, rows }) => html("div", html("h3.mid", name), html("ol.mid", rows.map(line)))),
    );
  }
}

function how({ searched, of }) {
  const number = (count) => count.toLocaleString("en");
  const some = searched < of ? `${number(searched)} of ${number(of)} training rows` : `all ${number(of)} training rows`;
  return `The nearest of ${some} by the vector that the classifier reads, for each label of the data; the number is the cosine.`;
}

function line({ first, second, data, cosine, link }) {
  const texts = [html("span", { dir: "auto" }, first), html("b", { dir: "auto" }, second)];
  const pair = link
    ? html("a.texts", { href: link, target: "_self", title: `${data}: open on Explore` }, texts)
    : html("span.texts", { title: data }, texts);
  return html("li", html("span.number", cosine.toFixed(3)), pair);
}

PANELS.like_these = (view) => new LikeThesePanel(view);
