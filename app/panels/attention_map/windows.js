// Which window of the other text each window of the judged one looks at most (models whose attention is over windows).

import { exactPercent, heading, html, moreButton, percent, shorten, signed, the } from "../../components/elements.js";
import { label, saveButtons } from "../../components/save.js";

const FIRST_WINDOWS = 8;

export class WindowPanel {
  constructor(view, record) {
    Object.assign(this, { view, record, open: false });
    this.table = html("div", { class: "scroll", tabindex: "-1" });
    const { rows, columns } = this.record;
    const how = `Each window of ${the(rows)} takes in a mix of ${the(columns)}’s windows; here is the one that weighs most in it.`;
    const more =
      "The cosine is that of the two windows’ filter values; the weight is the cosine’s share among those with all windows. The most similar windows come first; “All numbers (JSON)” has the whole matrix.";
    const saves = saveButtons(view, "windows", `windows-of-${rows}`, (ink) => this.saved(ink));
    this.element = html(
      "section",
      { class: "windows listing", "aria-label": "How the windows match" },
      heading("How the windows match", how, more, saves),
      this.table,
    );
  }

  words(role, first) {
    if (first === null) return "none is alike";
    return this.view
      .sideOf(role)
      .tokens.slice(first, first + this.record.width)
      .join(" ");
  }

  // Most alike windows first.
  lines() {
    return [...this.record.lines].sort((a, b) => b[2] - a[2] || a[0] - b[0]);
  }

  shown() {
    return this.open ? this.lines() : this.lines().slice(0, FIRST_WINDOWS);
  }

  saved(ink) {
    const { rows, columns } = this.record;
    const at = [12, 300, 640, 700];
    const cells = (y, texts, look) =>
      texts.map((text, i) => label(at[i], y, text, { fill: ink, "text-anchor": i > 1 ? "end" : "start", ...look }));
    const shown = this.shown();
    const lines = shown.map(([own, other, cosine, weight], i) =>
      cells(78 + 22 * i, [
        shorten(this.words(rows, own), 40),
        shorten(this.words(columns, other), 40),
        signed(cosine),
        percent(weight),
      ]),
    );
    const head = cells(52, [`window of ${the(rows)}`, `looks most at, in ${the(columns)}`, "cosine", "weight"], {
      "font-size": 12,
    });
    return [
      712,
      84 + 22 * shown.length,
      [
        label(12, 24, `How the windows match: ${shown.length} of ${this.record.lines.length}, most similar first`, {
          fill: ink,
          "font-weight": 600,
        }),
        head,
        lines,
      ].flat(2),
    ];
  }

  draw() {
    const { rows, columns } = this.record;
    const shown = this.shown();
    const head = html(
      "tr",
      {},
      html("th", { scope: "col" }, `window of ${the(rows)}`),
      html("th", { scope: "col" }, `looks most at, in ${the(columns)}`),
      html("th", { scope: "col", class: "number roomy" }, "cosine"),
      html("th", { scope: "col", class: "number" }, "weight"),
    );
    const body = shown.map(([own, other, cosine, weight]) =>
      html(
        "tr",
        {},
        html("td", { class: "ngram", dir: "auto" }, this.words(rows, own)),
        html("td", { class: "ngram", dir: "auto" }, this.words(columns, other)),
        html("td", { class: "number roomy", title: String(cosine) }, signed(cosine)),
        html("td", { class: "number", title: exactPercent(weight) }, percent(weight)),
      ),
    );
    this.table.replaceChildren(
      html("table", {}, html("thead", {}, head), html("tbody", {}, body)),
      moreButton(this, this.record.lines.length, FIRST_WINDOWS, "windows") || "",
    );
  }
}
