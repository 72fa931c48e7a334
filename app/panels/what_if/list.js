// The list of changes: each with its verdict; a click goes back to it.

import { html } from "../../components/create.js";
import { table } from "../../components/elements.js";
import { capital, percent, signed } from "../../components/wording.js";
import { numberOf, sharesOf } from "../../components/shares.js";

const TOLD = {
  "Make again": "Make the changes again up to",
  "Back to here": "Go back to",
  "Undo all": "Go back to",
};

export function beforeAndAfter({ steps, at }) {
  const said = ({ label, p, classes }) => html("b", `${label} ${numberOf({ p, said: classes[0].said })}`);
  if (!at) return html("p.both", "As typed: ", said(steps[0]), ". All changes are undone.");
  return html("p.both", "Before: ", said(steps[0]), html("span.soft", " → "), "after: ", said(steps[at]));
}

// `go` is called with the number of changes to keep in effect; `notice` with the number of a change whose difference is
// divided, and is null for a change that cannot be.
export function listOfSteps({ followed, steps, at }, go, notice) {
  const numbers = [`p(${followed})`, "Δp"].map((name) => html("th.number", name));
  const head = [html("th", "Change"), html("th", "Verdict"), numbers, html("th")];
  const lines = steps.map((step, i) => line(step, i, at, go, notice(i)));
  return html("div.changes.scroll", table(head, lines));
}

function line({ said, classes, label, p, follows, change, note }, i, at, go, notice) {
  const undone = i > at;
  const back = i === at ? "shown" : undone ? "Make again" : i ? "Back to here" : "Undo all";
  const more = [undone && "undone", note].filter(Boolean).join("; ");
  return html(
    "tr",
    { class: undone || note ? "undone" : null, "aria-current": i === at ? "step" : null },
    html(
      "td.said-of-it",
      html("bdi", i ? `${i}. ${said}` : capital(said)),
      more && html("span.soft", ` (${more})`),
      notice,
    ),
    html("td", html("span.verdict-of-it", sharesOf(classes).bar, `${label} ${numberOf({ p, said: classes[0].said })}`)),
    html("td.number", classes[0].said ? follows.toFixed(2) : percent(follows)),
    html("td.number", change === null ? "" : signed(change, 2)),
    html(
      "td.screen",
      i === at
        ? html("span.soft", back)
        : html("button.link", { "aria-label": `${TOLD[back]} “${said}”`, "data-step": i, onclick: () => go(i) }, back),
    ),
  );
}
