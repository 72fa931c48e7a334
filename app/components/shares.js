// Class probabilities: a stacked bar with labels and percentages, and warnings.

import { html } from "./create.js";
import { capital, exactPercent, percent } from "./wording.js";

// Of more classes than MOST, only the LISTED most probable ones are drawn: a hundred names would push the
// rest of the page out of sight.
const MOST = 20;
const LISTED = 8;

/**
 * The classes to draw; and how many others there are, with their probability together.
 * @param {import("./payloads").ClassShare[]} classes
 */
export function likeliest(classes) {
  if (classes.length <= MOST) return { listed: classes, others: 0, rest: 0 };
  const ordered = [...classes].sort((one, other) => other.p - one.p);
  const rest = ordered.slice(LISTED).reduce((sum, c) => sum + c.p, 0);
  return { listed: ordered.slice(0, LISTED), others: classes.length - LISTED, rest };
}

/** @param {import("./payloads").ClassShare[]} classes */
export function sharesOf(classes) {
  const best = named(classes);
  if (best.said) return { headline: headline(best), bar: null, key: null };
  const colour = (c) => `background:light-dark(${c.light},${c.dark})`;
  const { listed, others, rest } = likeliest(classes);
  const further = others ? `${others} other classes ${percent(rest)}` : "";
  const summary = [...listed.map((c) => `${c.label} ${percent(c.p)}`), ...(further ? [further] : [])].join(", ");
  const bar = html(
    "div.bar",
    { role: "img", "aria-label": summary },
    listed.map((c) =>
      html("i", { style: `width:${100 * c.p}%;${colour(c)}`, title: `${c.label} ${exactPercent(c.p)}` }),
    ),
    further && html("i.rest", { style: `width:${100 * rest}%`, title: further }),
  );
  const apart = classes.some((c) => c.apart);
  const key = html(
    "div.key.wraps",
    listed.map((c) =>
      html(
        "span",
        { class: c === best ? "best" : null, title: exactPercent(c.p) },
        html("i", { style: colour(c) }),
        `${c.label} ${percent(c.p)}`,
      ),
    ),
    further && html("span", further),
  );
  // Independent labels do not add up to a whole, so they are listed.
  return apart ? { headline: capital(summary), bar: null, key } : { headline: headline(best), bar, key };
}

// The class named in a headline. Few of a question's candidates are answers, so a ranker rates nearly all of them
// unlikely: its headline is the share of "answer" alone, a score for comparing candidates.
export function named(classes) {
  const scored = classes.find(({ score }) => score);
  return scored ?? classes.reduce((best, c) => (c.p > best.p ? c : best));
}

// The number after a class's name: its probability, or the score of a model with one output.
export const numberOf = ({ said, p }) => said || percent(p);

export function headline(best) {
  if (best.said) return `${capital(best.label)} ${best.said}`;
  return best.score ? `Score as an ${best.label}: ${percent(best.p)}` : `${capital(best.label)}, ${percent(best.p)}`;
}

export function drawNotices(notices) {
  if (!notices || !notices.length) return null;
  return html(
    "div.notices.mid",
    { role: "status" },
    html(
      "ul",
      notices.map((text) => html("li", text)),
    ),
  );
}
