// The verdict of the shown model under each pooling at this k, and of every model under its own.

class VerdictPanel {
  constructor(view) {
    this.view = view;
    this.rows = html("div", { class: "rows" });
    this.reading = html("p", { class: "reading" });
    const how = "Only the marked row is how the model was trained; the others ask “what if”.";
    const more = "The same weights read other phrases: phrase states and alignments stay, only the choice among them changes. A model that never saw such a choice in training may be wrong about it; " +
      "what a pooling is worth shows in models trained with it. Answer selection ranks candidates by their share of “answer”: compare it between candidates, not with 50 %.";
    const models = view.data.models;
    const others = models.length > 1
      ? html("section", { class: "others", "aria-label": "Verdicts of all phrase models" }, heading("Each model by its own pooling", "The same pair under every model, as each was trained.",
        "Models with words of their own data set or linguistic features are left out here; choose them in the sidebar. An answer selection model takes the first sentence as a question and the second as a candidate answer."),
        html("div", { class: "rows" }, models.map((model) => this.model(model))))
      : null;
    this.element = html("div", { class: `verdicts${others ? "" : " alone"}` },
      html("section", { class: "poolings", "aria-label": "Verdict under each pooling" }, heading("The verdict under each pooling", how, more), this.rows), others, this.reading);
  }

  row({ name, note, classes, marked, part }) {
    const best = classes.length ? mostProbable(classes) : null;
    const { bar, key } = sharesOf(classes, best);
    return html("div", { class: `row${marked ? " marked" : ""}`, "data-part": part },
      html("div", { class: "who" }, html("b", {}, name), html("small", {}, note)), best ? html("div", { class: "shares" }, bar, key) : null);
  }

  model({ title, name, how, classes, shown }) {
    return this.row({ name: title, note: how, classes, marked: shown, part: `model ${name}` });
  }

  draw() {
    const { phrases, data, k } = this.view;
    const { trained } = phrases;
    const note = (pooling) => (pooling !== trained.pooling ? "what if" : pooling === "full" || k === trained.k ? "as trained" : `trained with k = ${trained.k}`);
    const rows = POOLINGS.map((pooling) => [pooling, data.choices[pooling][k - 1].p, `${POOLING_NAMES[pooling]}, k = ${k}`]);
    if (data.full) rows.push(["full", data.full, "full: all phrases"]);
    this.rows.replaceChildren(...rows.map(([pooling, p, name]) => this.row({ name: [pooling === "full" ? null : poolingSign(pooling), name], note: note(pooling), classes: phrases.classes(p), marked: note(pooling) === "as trained", part: `pooling ${pooling}` })));
    this.reading.textContent = data.readings[k - 1];
  }
}
