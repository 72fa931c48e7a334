// The verdict: class and percentage, a stacked bar with labels, and the verdict on the judged sentence alone.

import { html } from "./create.js";
import { chooser } from "./elements.js";
import { the } from "./wording.js";
import { drawNotices, named, numberOf, sharesOf } from "./shares.js";

// A judgement from another source, after the source's name.
const said = (kind, name, label, title) => html(`span.${kind}`, { title }, name, html("b", label));
const share = (one) => `${one.label} ${numberOf(one)}`;

// The gold label of an example, in plain words; nothing for the user's own pair.
export const goldLabel = (gold) =>
  gold && said("gold", gold.source ? `Label by people (${gold.source}): ` : "Our label: ", gold.label);

// “Not right?”: the class that the user says is right. `choose` is called with it; empty: the correction is taken back.
const correction = ({ names, label }, choose) =>
  html(
    "label.correct.screen.soft",
    label ? "You say: " : "Not right? ",
    chooser([["", label ? "take it back" : "choose the right class"], ...Object.entries(names)], label, choose),
  );

/**
 * Text that a screen reader repeats in full when the sentence under the verdict arrives.
 * @param {import("./payloads").Verdict} verdict
 * @param {string[]} [notices]
 * @param {{ sentence?: HTMLElement, noticed?: HTMLElement, second?: HTMLElement }} [below] the sentence under the
 *   verdict, how the model notices its change, and a second opinion
 * @param {(label: string) => void} [choose] takes the class that the user says is right
 */
export function drawVerdict(verdict, notices, below, choose) {
  const { classes, model, what_if, meaning, gold, trained, alone, correct } = verdict;
  const { sentence, noticed, second } = below ?? {};
  const { headline, bar, key } = sharesOf(classes);
  return html(
    "section.verdict.halves",
    { "aria-label": "Verdict", "aria-live": "polite", "aria-atomic": "true" },
    html(
      "div",
      html("div.said", { "data-part": "verdict" }, headline),
      // A what-if replaces the model's name, so that nothing below moves.
      what_if
        ? html("div.model.what-if.soft", { title: model }, html("b", `What if: ${what_if}`))
        : html("div.model.soft", html("bdi", model)),
      meaning && html("div.how.soft", meaning),
    ),
    html(
      "div.shares",
      bar,
      html("div.under.soft.wraps", key, goldLabel(gold), choose && correct && !what_if && correction(correct, choose)),
      trained && html("div.trained-bar", sharesOf(trained).bar),
    ),
    html(
      "div.below",
      // While the attention is changed, the trained model's verdict replaces the sentence.
      html(
        "div.stacked",
        sentence,
        trained && html("p.as-trained.soft", said("trained", "As trained: ", share(named(trained)))),
      ),
      noticed,
      second,
      alone &&
        html("p.soft", said("alone", `A model that reads only ${the(alone.judged)} says: `, share(alone), alone.model)),
    ),
    drawNotices(notices),
  );
}
