// Like these: training rows whose vectors are similar to the pair's, by class. They arrive late.

import { AnsweredPanel } from "../../components/answered.js";
import { html } from "../../components/create.js";
import { heading } from "../../components/elements.js";
import { PANELS } from "../../components/view.js";

const LONGEST_LINK = 2000; // letters, as in app/page_state/codec.py
const MORE =
  "The classifier is linear in its input vector: rows with a cosine near 1 point in the same direction as your pair; the label is from the data set, not from the model. If the nearest rows of the right class share words with your pair but not its meaning, the model may have learnt the words. What it cannot tell: that these rows caused the verdict. A cosine is not comparable between models, and rows that are not in the index may lie nearer.";

/** @extends {AnsweredPanel<"like">} */
class LikeThesePanel extends AnsweredPanel {
  /** @param {import("../../components/pair.js").PairView} view */
  constructor(view) {
    const text = "Searching for training rows like this pair …";
    super(view, "Like these", { kind: "like", text, noun: "similar training rows" });
  }

  figures(known) {
    const { asked, data } = this.view;
    const names = data.verdict.classes.map(({ label }) => label);
    const page = { model: data.why.question.model, open: asked.open };
    const classes = Object.entries(known.by_label).map(([label, rows]) => {
      const name = names[data.explanation.labels.indexOf(label)];
      return html(
        "div",
        html("h3.mid", name),
        html(
          "ol.mid",
          rows.map((row) => line(row, page)),
        ),
      );
    });
    return { heading: heading(this.title, how(known), MORE, []), figure: html("div.classes", classes) };
  }
}

function how({ searched, of }) {
  const number = (count) => count.toLocaleString("en");
  const some = searched < of ? `${number(searched)} of ${number(of)} training rows` : `all ${number(of)} training rows`;
  return `The nearest of ${some} by the classifier’s input vector, for each label of the data; the number is the cosine.`;
}

function line({ row: { first, second, data }, cosine }, page) {
  const texts = [html("span", { dir: "auto" }, first), html("b", { dir: "auto" }, second)];
  const link = `?${new URLSearchParams({ ...page, first, second })}`;
  const pair =
    link.length <= LONGEST_LINK
      ? html("a.texts", { href: link, target: "_self", title: `${data}: open on Explore` }, texts)
      : html("span.texts", { title: data }, texts);
  return html("li", html("span.number", cosine.toFixed(3)), pair);
}

PANELS.like_these = {
  place: "how-sure",
  asks: (_, { like }) => like,
  make: (view) => new LikeThesePanel(view),
};
