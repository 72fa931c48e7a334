// The verdict of the shown model under each pooling at this k, and of every model under its own.

import { capital, heading, html, percent, svg } from "../../components/elements.js";
import { label, saveButtons } from "../../components/save.js";
import { named, sharesOf } from "../../components/shares.js";
import { POOLINGS, POOLING_NAMES, poolingSign } from "./phrases.js";

export class VerdictPanel {
  constructor(view) {
    this.view = view;
    this.rows = html("div", { class: "rows" });
    this.reading = html("p", { class: "reading" });
    const how = "Only the marked row is how the model was trained; the others ask “what if”.";
    const more =
      "The same weights read other phrases: phrase states and alignments stay, only the choice among them changes. A model that never saw such a choice in training may be wrong about it; " +
      "what a pooling is worth shows in models trained with it. Answer selection ranks candidates by their share of “answer”: compare it between candidates, not with 50 %.";
    this.others = view.data.models.length > 1 ? html("div", { class: "rows" }) : null;
    const others = this.others
      ? html(
          "section",
          { class: "others", "aria-label": "Verdicts of all phrase models" },
          heading(
            "Each model by its own pooling",
            "The same pair under every model of this task, as each was trained.",
            "Models with words of their own data set or linguistic features are left out unless one is chosen in the sidebar.",
            this.saves("verdicts of the models", "phrase-models", () => this.modelRows()),
          ),
          this.others,
        )
      : null;
    this.element = html(
      "div",
      { class: `verdicts${others ? "" : " alone"}` },
      html(
        "section",
        { class: "poolings", "aria-label": "Verdict under each pooling" },
        heading(
          "The verdict under each pooling",
          how,
          more,
          this.saves(
            "verdicts",
            () => `phrase-verdicts-k${view.k}`,
            () => this.poolingRows(),
          ),
        ),
        this.rows,
      ),
      others,
      this.reading,
    );
  }

  // Rows as a figure: who says it, under what, and the shares of the classes.
  saves(what, file, rows) {
    return saveButtons(this.view, what, file, (ink) => {
      const wide = 560;
      const lines = rows().filter(({ classes }) => classes.length);
      const drawn = lines.map(({ name, note, classes }, i) => {
        const top = 44 + i * 62;
        let x = 12;
        const bars = classes.map((c) => {
          const width = c.p * (wide - 24);
          x += width;
          return svg("rect", { x: x - width, y: top + 8, width, height: 12, fill: c.light });
        });
        let at = 12;
        const key = classes.map((c) => {
          const said = `${c.label} ${percent(c.p)}`;
          const spot = at;
          at += 26 + 6.6 * said.length;
          return [
            svg("rect", { x: spot, y: top + 26, width: 10, height: 10, fill: c.light }),
            label(spot + 15, top + 35, said, { fill: ink, "font-size": 12.5 }),
          ];
        });
        return [label(12, top, [name, note].filter(Boolean).join(", "), { fill: ink, "font-weight": 600 }), bars, key];
      });
      return [
        wide,
        44 + lines.length * 62,
        [label(12, 22, capital(what), { fill: ink, "font-weight": 600 }), drawn.flat(Infinity)],
      ];
    });
  }

  row({ name, note, classes, marked, part }) {
    const best = classes.length ? named(classes) : null;
    const { bar, key } = sharesOf(classes, best);
    return html(
      "div",
      { class: `row${marked ? " marked" : ""}`, "data-part": part },
      html("div", { class: "who" }, html("b", {}, name), html("small", {}, note)),
      best ? html("div", { class: "shares" }, bar, key) : null,
    );
  }

  modelRows() {
    return this.view.data.models.map(({ title, name, how, classes, shown }) => ({
      name: title,
      note: how,
      classes,
      marked: shown,
      part: `model ${name}`,
    }));
  }

  poolingRows() {
    const { phrases, data, k } = this.view;
    const { trained } = phrases;
    const note = (pooling) =>
      pooling !== trained.pooling
        ? "what if"
        : pooling === "full" || k === trained.k
          ? "as trained"
          : `trained with k = ${trained.k}`;
    const rows = POOLINGS.map((pooling) => [
      pooling,
      data.choices[pooling][k - 1].p,
      `${POOLING_NAMES[pooling]}, k = ${k}`,
    ]);
    if (data.full) rows.push(["full", data.full, "full: all phrases"]);
    return rows.map(([pooling, p, name]) => ({
      name,
      sign: pooling === "full" ? null : pooling,
      note: note(pooling),
      classes: phrases.classes(p),
      marked: note(pooling) === "as trained",
      part: `pooling ${pooling}`,
    }));
  }

  draw() {
    this.rows.replaceChildren(
      ...this.poolingRows().map((row) =>
        this.row({ ...row, name: [row.sign ? poolingSign(row.sign) : null, row.name] }),
      ),
    );
    this.others?.replaceChildren(...this.modelRows().map((row) => this.row(row)));
    this.reading.textContent = this.view.data.readings[this.view.k - 1];
  }
}
