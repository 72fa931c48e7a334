// The window of the other text to which each window of the judged one attends most (attention over windows).

import { html } from "../../components/create.js";
import { heading, moreButton, refill, table } from "../../components/elements.js";
import { exactPercent, percent, signed, the } from "../../components/wording.js";
import { saveButtons } from "../../components/save.js";

const FIRST_WINDOWS = 8;

export class WindowPanel {
  /**
   * @param {import("../../components/pair.js").PairView} view
   * @param {ReturnType<typeof import("./records.js").windowsOf>} record
   */
  constructor(view, record) {
    this.view = view;
    this.record = record;
    this.open = false;
    this.table = html("div.scroll", { tabindex: "-1" });
    const { rows, columns } = this.record;
    const how = `Each window of ${the(rows)} reads a mix of ${the(columns)}’s windows; the table shows the heaviest one.`;
    const more =
      "The cosine compares the two windows’ filter values; the weight is this cosine divided by the sum of the cosines with all windows. The most similar windows come first; “All numbers (JSON)” has the whole matrix.";
    const saves = saveButtons(view, "windows", () => ({
      file: `windows-of-${rows}`,
      title: `How the windows match: ${this.shown().length} of ${record.lines.length}, most similar first`,
      elements: [this.table],
    }));
    this.element = html(
      "section.windows.listing",
      { "aria-label": "How the windows match" },
      heading("How the windows match", how, more, saves),
      this.table,
    );
  }

  words(role, first) {
    if (first === null) return "no similar window";
    return this.view
      .sideOf(role)
      .tokens.slice(first, first + this.record.width)
      .join(" ");
  }

  // Most similar windows first.
  lines() {
    return [...this.record.lines].sort((a, b) => b[2] - a[2] || a[0] - b[0]);
  }

  shown() {
    return this.open ? this.lines() : this.lines().slice(0, FIRST_WINDOWS);
  }

  draw() {
    const { rows, columns } = this.record;
    const shown = this.shown();
    const head = [
      html("th", { scope: "col" }, `window of ${the(rows)}`),
      html("th", { scope: "col" }, `looks most at, in ${the(columns)}`),
      html("th.number.roomy", { scope: "col" }, "cosine"),
      html("th.number", { scope: "col" }, "weight"),
    ];
    const body = shown.map(([own, other, cosine, weight]) =>
      html(
        "tr",
        html("td.ngram", { dir: "auto" }, this.words(rows, own)),
        html("td.ngram", { dir: "auto" }, this.words(columns, other)),
        html("td.number.roomy", { title: String(cosine) }, signed(cosine)),
        html("td.number", { title: exactPercent(weight) }, percent(weight)),
      ),
    );
    refill(this.table, table(head, body), moreButton(this, this.record.lines.length, FIRST_WINDOWS, "windows"));
  }
}
