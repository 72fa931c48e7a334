// The verdict of the current model under each pooling at this k, and of every model under its own pooling.

import { html } from "../../components/create.js";
import { heading, refill } from "../../components/elements.js";
import { saveButtons } from "../../components/save.js";
import { sharesOf } from "../../components/shares.js";
import { POOLINGS, POOLING_NAMES, poolingSign } from "./phrases.js";

export class VerdictPanel {
  constructor(view) {
    this.view = view;
    this.rows = html("div.rows");
    this.reading = html("p.reading");
    const how = "The model was trained as in the marked row; the others ask “what if”.";
    const more =
      "The same weights read other phrases: phrase states and alignments stay, only the choice among them changes. A model that never saw such a choice in training may be wrong about it; " +
      "what a pooling is worth shows in models trained with it. Answer selection ranks candidates by their share of “answer”: compare it between candidates, not with 50 %.";
    this.others = view.data.models.length > 1 ? html("div.rows") : null;
    const saves = (what, file, title, rows) =>
      saveButtons(view, what, () => ({ file: file(), title, elements: [rows] }));
    const poolings = saves("verdicts", () => `phrase-verdicts-k${view.k}`, "Verdicts", this.rows);
    const models = saves("verdicts of the models", () => "phrase-models", "Verdicts of the models", this.others);
    this.element = html(
      "div.verdicts.halves",
      { class: this.others ? null : "alone" },
      html(
        "section.poolings",
        { "aria-label": "Verdict under each pooling" },
        heading("The verdict under each pooling", how, more, poolings),
        this.rows,
        this.reading,
      ),
      this.others &&
        html(
          "section.others",
          { "aria-label": "Verdicts of all phrase models" },
          heading(
            "Each model by its own pooling",
            "The same pair under every model of this task, as each was trained.",
            "A model whose vocabulary comes from its data set reads only the words that it knows.",
            models,
          ),
          this.others,
        ),
    );
  }

  row({ name, note, classes, marked, part }) {
    const shares = classes.length ? sharesOf(classes) : null;
    return html(
      "div.row",
      { class: marked && "marked", "data-part": part },
      html("div.who.mid", html("b", name), html("small.small", note)),
      shares && html("div.shares", shares.bar, shares.key),
    );
  }

  modelRows() {
    return this.view.data.models.map(({ title, name, how, classes, shown }) =>
      this.row({ name: title, note: how, classes, marked: shown, part: `model ${name}` }),
    );
  }

  poolingRows() {
    const { phrases, k } = this.view;
    const { trained } = phrases;
    const full = phrases.choice("full");
    const row = (pooling, p, name) => {
      const own = pooling === trained.pooling;
      const marked = own && (pooling === "full" || k === trained.k);
      const note = marked ? "as trained" : own ? `trained with k = ${trained.k}` : "what if";
      return this.row({ name, note, classes: phrases.classes(p), marked, part: `pooling ${pooling}` });
    };
    return [
      ...POOLINGS.map((pooling) => {
        const name = [poolingSign(pooling), `${POOLING_NAMES[pooling]}, k = ${k}`];
        return row(pooling, phrases.choice(pooling, k).probabilities, name);
      }),
      full && row("full", full.probabilities, "full: all phrases"),
    ];
  }

  draw() {
    refill(this.rows, this.poolingRows());
    this.others?.replaceChildren(...this.modelRows());
    this.reading.textContent = this.view.data.readings[this.view.k - 1];
  }
}
