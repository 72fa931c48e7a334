// The verdict: class and percentage, a stacked bar with labels, and the verdict on the judged sentence alone.

import { html, percent, the } from "./elements.js";
import { drawNotices, headline, named, sharesOf } from "./shares.js";

// What a data set says of an example; nothing for a pair of a person's own.
export const goldLabel = (gold) =>
  gold
    ? html("span", { class: "gold" }, `Gold label${gold.source && ` (${gold.source})`}: `, html("b", {}, gold.label))
    : null;

export function drawVerdict(verdict, notices) {
  const best = named(verdict.classes);
  const { bar, key } = sharesOf(verdict.classes, best);
  const alone = verdict.alone
    ? html(
        "span",
        { class: "alone", title: verdict.alone.model },
        `On ${the(verdict.alone.judged)} alone: `,
        html("b", {}, `${verdict.alone.label} ${percent(verdict.alone.p)}`),
      )
    : null;
  const trained = verdict.trained
    ? html(
        "span",
        { class: "trained" },
        "As trained: ",
        html("b", {}, `${verdict.trained.label} ${percent(verdict.trained.p)}`),
      )
    : null;
  const gold = goldLabel(verdict.gold);
  return html(
    "section",
    { class: "verdict", "aria-label": "Verdict" },
    html(
      "div",
      {},
      html("div", { class: "said", "data-part": "verdict" }, headline(best)),
      html(
        "div",
        { class: "model" },
        html("bdi", {}, verdict.model),
        verdict.what_if ? html("b", {}, `, what if: ${verdict.what_if}`) : null,
      ),
      verdict.meaning ? html("div", { class: "how" }, verdict.meaning) : null,
    ),
    html("div", { class: "shares" }, bar, html("div", { class: "under" }, key, gold, trained, alone)),
    verdict.pinned
      ? html(
          "div",
          { class: "pinned" },
          html("span", {}, "Pinned: ", html("b", {}, `${verdict.pinned.label} ${percent(verdict.pinned.p)}`)),
          html("bdi", {}, verdict.pinned.model),
          html("bdi", {}, verdict.pinned.texts.join(" / ")),
        )
      : null,
    drawNotices(notices),
  );
}
