// Faithfulness of the explanations: computed on request, next to the page.

import { heading, html, linkButton, moreOnDemand, refill, signed } from "../../components/elements.js";
import { saveButtons } from "../../components/save.js";
import { PANELS } from "../../components/view.js";
import { factsOf, methodsOf, sentenceOf } from "./facts.js";

const TITLE = "How faithful are these explanations?";
const HOW =
  "Dot: how much the verdict drops without a method’s first words; far to the right is good. Ring: how much it drops with these words alone; far to the left is good. Lines: the same of random orders (dashed: alone).";
const MORE =
  "Each method ranks the words of both texts together. The first 1, 2 and 3 words, then 20 and 50 %, are dropped (comprehensiveness), or all others are (sufficiency), and p of the verdict before minus after is averaged: the area over the perturbation curve of DeYoung and others (2020, ERASER, section 4). We let each text keep at least its first-ranked word, because a model of pairs has no answer to half a pair. The lines are the means of 20 random orders: a method whose dot lies left of its line is worse than chance. What it cannot tell: the model was not trained with texts that lack most of their words, and a method that drops words to rank them is favoured by a measure that drops words.";

class BeliefPanel {
  constructor(view, { verdict, costs }) {
    this.view = view;
    this.verdict = verdict;
    this.cost = costs.faithfulness ? `at most ${costs.faithfulness}` : "a few seconds";
    this.head = html("div");
    this.answer = view.answer("faithfulness", "Deleting words and changing the attention …", "the faithfulness");
    this.state = html("div.state.soft", { "aria-live": "polite" });
    this.body = html("div");
    this.element = html("section", { "aria-label": TITLE }, this.head, this.state, this.body);
  }

  draw() {
    const { view } = this;
    const { believed: asked } = view.asked;
    view.question("faithfulness", asked && {});
    const known = this.answer.value;
    if (known !== this.known) {
      this.known = known;
      refill(this.head, this.heading(known));
      refill(this.body, known && this.all(known));
    }
    if (asked === this.asked) return;
    this.asked = asked;
    refill(this.state, asked ? this.answer.element : this.offer());
  }

  offer() {
    return [
      "Test the explanations by deleting the words they name and by changing the attention. It takes ",
      `${this.cost}. `,
      linkButton("Compute", "Compute the faithfulness", () => this.view.ask({ believed: "on" })),
    ];
  }

  heading(known) {
    const title = TITLE;
    if (!known) return html("header", html("div.headline", html("h2", title)));
    const saves = saveButtons(this.view, "measures", () => ({
      file: "believed",
      title: `${title} ${sentenceOf(known)}`,
      elements: [this.figure, this.list],
    }));
    return heading(title, HOW, MORE, saves);
  }

  all(record) {
    const { verdict } = this.view.data;
    this.figure = this.erasing(methodsOf(record));
    const names = verdict.classes.map(({ label }) => label);
    this.list = html(
      "dl.mid",
      factsOf(record, names).map(({ name, says, more }) => {
        const [mark, extra] = moreOnDemand(more, `More about: ${name}`);
        return [html("dt", name), html("dd", says, " ", mark, extra)];
      }),
    );
    return [html("p.sentence", sentenceOf(record)), this.figure, this.list];
  }

  // One line per method: a dot and a ring on one scale, and both numbers.
  erasing({ methods, random }) {
    const ends = [random, ...methods].flatMap(({ left, taken }) => [left, taken]);
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
      methods.map((method) => line(method, true)),
      line(random, false),
    );
  }
}

PANELS.belief = {
  place: "how-sure",
  asks: (_, { why }) => [why],
  make: (view, frame) => new BeliefPanel(view, frame),
};
