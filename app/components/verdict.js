// The verdict: class and percentage, a stacked bar with labels, and the verdict on the judged sentence alone.

import { html, percent, the } from "./elements.js";
import { drawNotices, headline, named, sharesOf } from "./shares.js";

// What a data set says of an example; nothing for a pair of a person's own.
export const goldLabel = (gold) =>
  gold ? html("span.gold", `Gold label${gold.source && ` (${gold.source})`}: `, html("b", gold.label)) : null;

export function drawVerdict(verdict, notices) {
  const best = named(verdict.classes);
  const { bar, key } = sharesOf(verdict.classes, best);
  const alone = verdict.alone
    ? html(
        "span.alone",
        { title: verdict.alone.model },
        `On ${the(verdict.alone.judged)} alone: `,
        html("b", `${verdict.alone.label} ${percent(verdict.alone.p)}`),
      )
    : null;
  const trained = verdict.trained
    ? html("span.trained", "As trained: ", html("b", `${verdict.trained.label} ${percent(verdict.trained.p)}`))
    : null;
  const gold = goldLabel(verdict.gold);
  return html(
    "section.verdict",
    { "aria-label": "Verdict" },
    html(
      "div",
      html("div.said", { "data-part": "verdict" }, headline(best)),
      html(
        "div.model.soft",
        html("bdi", verdict.model),
        verdict.what_if ? html("b", `, what if: ${verdict.what_if}`) : null,
      ),
      verdict.meaning ? html("div.how.soft", verdict.meaning) : null,
    ),
    html("div.shares", bar, html("div.under.wraps.soft", key, gold, trained, alone)),
    verdict.pinned
      ? html(
          "div.pinned.wraps.soft",
          html("span", "Pinned: ", html("b", `${verdict.pinned.label} ${percent(verdict.pinned.p)}`)),
          html("bdi", verdict.pinned.model),
          html("bdi", verdict.pinned.texts.join(" / ")),
        )
      : null,
    drawNotices(notices),
  );
}
