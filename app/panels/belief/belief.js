// Faithfulness of the explanations: computed on request, next to the page.

import { AnsweredPanel } from "../../components/answered.js";
import { html } from "../../components/create.js";
import { heading, moreOnDemand } from "../../components/elements.js";
import { signed } from "../../components/wording.js";
import { saveButtons } from "../../components/save.js";
import { PANELS } from "../../components/view.js";

const HOW =
  "Dot: how much the verdict drops without a method’s first words; far to the right is good. Ring: how much it drops with these words alone; far to the left is good. Lines: the same of random orders (dashed: alone).";
const MORE =
  "Each method ranks the words of both texts together. The first 1, 2 and 3 words, then 20 and 50 %, are dropped (comprehensiveness), or all others are (sufficiency), and p of the verdict before minus after is averaged: the area over the perturbation curve of DeYoung and others (2020, ERASER, section 4). We let each text keep at least its first-ranked word, because a model of pairs has no answer to half a pair. The lines are the means of 20 random orders: a method whose dot lies left of its line is worse than chance. What it cannot tell: the model was not trained with texts that lack most of their words, and a method that drops words to rank them is favoured by a measure that drops words.";

/**
 * @typedef {import("../../components/pair.js").PairView} PairView
 * @extends {AnsweredPanel<"faithfulness">}
 */
class BeliefPanel extends AnsweredPanel {
  /** @param {PairView} view @param {import("../../components/payloads").Why} why */
  constructor(view, { verdict, costs }) {
    const cost = costs.faithfulness ? `at most ${costs.faithfulness}` : "a few seconds";
    super(view, "How faithful are these explanations?", {
      kind: "faithfulness",
      text: "Deleting words and changing the attention …",
      noun: "the faithfulness",
      setting: "believed",
      offer: `Test the explanations by deleting the words they name and by changing the attention. It takes ${cost}.`,
    });
    this.verdict = verdict;
  }

  figures(record) {
    const chart = this.erasing(record);
    const list = html(
      "dl.mid",
      record.facts.map(({ name, says, more }) => {
        const [mark, extra] = moreOnDemand(more, `More about: ${name}`);
        return [html("dt", name), html("dd", says, " ", mark, extra)];
      }),
    );
    const saved = { file: "believed", title: `${this.title} ${record.sentence}`, elements: [chart, list] };
    const saves = saveButtons(this.view, "measures", () => saved);
    return {
      heading: heading(this.title, HOW, MORE, saves),
      figure: [html("p.sentence", record.sentence), chart, list],
    };
  }

  // One line per method: a dot and a ring on one scale, and both numbers.
  erasing({ methods, chance }) {
    const ends = [chance, ...methods].flatMap(({ left, taken }) => [left, taken]);
    const [low, high] = [Math.min(0, ...ends), Math.max(0.1, ...ends)];
    const at = (value) => `left:${(100 * (value - low)) / (high - low)}%`;
    const lines = () => [
      html("i.zero", { style: at(0) }),
      html("i.chance.taken", { style: at(chance.taken) }),
      html("i.chance.left", { style: at(chance.left) }),
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
        html("span.track.key", "0: no loss; p of “", this.verdict, "”"),
        html("span.number", html("i.dot"), " without"),
        html("span.number", html("i.ring"), " alone"),
      ),
      methods.map((method) => line(method, true)),
      line(chance, false),
    );
  }
}

PANELS.belief = {
  place: "how-sure",
  asks: () => true,
  make: (view) => new BeliefPanel(view, view.data.why),
};
