// Under the verdict: the reason, each clause of which is a change to make with a click, and a second model's verdict.

import { html } from "./create.js";
import { linkButton, refill } from "./elements.js";
import { Carried, keepsLengths } from "./routes.js";
import { percent } from "./wording.js";

const MOST_CONTROLS = 3; // so that the page stays within 25

export class Reason {
  constructor(view) {
    this.view = view;
    const { second, routes } = view.data.why;
    this.answer = view.answer("reason", "Looking for what decides …", "the reason");
    this.other = second && view.answer("preview", "", "the second opinion");
    const text = "Looking for what carries the difference …";
    this.carried = routes && new Carried(view.answer("routes", text, "how the model notices"));
    this.sentence = html("p.reason.mid");
    this.noticed = this.carried && this.carried.element;
    this.second = second && html("p.second.soft");
    this.element = this.sentence;
  }

  // The reason concerns the model's own attention: while that is changed, the sentence's place stays empty.
  draw() {
    const { view, answer, other } = this;
    const { verdict, why } = view.data;
    const all = view.all === view.about; // for a slow model, whose duration is shown
    if (!verdict.what_if) view.question("reason", all ? { all } : {});
    this.sentence.classList.toggle("unlike", Boolean(verdict.what_if));
    if (this.drawn !== (answer.value ?? answer.state)) {
      this.drawn = answer.value ?? answer.state;
      refill(this.sentence, answer.value ? this.clauses(answer.value) : all || answer.problem ? answer.element : null);
    }
    this.drawNoticed();
    if (!other) return;
    // After the reason, which the second model's loading would delay.
    if (answer.state !== "working") view.question("preview", { model: why.second.model });
    const { title, measured } = why.second;
    const said = other.value ? this.opinion(other.value) : "loading …";
    refill(this.second, other.problem || [`Second opinion of ${title}${measured && ` (${measured})`}: `, said]);
  }

  // By which parts of the model the reason's change reaches the verdict, once requested.
  drawNoticed() {
    const { view, carried } = this;
    if (!carried) return;
    view.question("routes", this.change ? { change: this.change } : null);
    carried.draw(view);
  }

  // The button that requests this, for a first change that keeps the numbers of words.
  offer(clauses) {
    const [first] = clauses;
    if (!this.carried || clauses.length >= MOST_CONTROLS || !first || !keepsLengths(first.edits)) return null;
    const notice = () => {
      this.change = this.change ? null : first.edits;
      view.draw();
    };
    const { view } = this;
    return [" ", linkButton("How does the model notice?", `How does the model notice: ${first.text}`, notice)];
  }

  // The sentence, if it was computed for the displayed verdict.
  get conclusion() {
    const { kind, sentence } = this.answer.value ?? {};
    return kind === "slow" || this.view.data.verdict.what_if ? "" : sentence;
  }

  // The sentence in parts: its first clauses are buttons, and quoted words are emphasised.
  clauses({ kind, sentence, clauses, known }) {
    const parts = [];
    let rest = sentence;
    for (const { text, edits } of clauses.slice(0, MOST_CONTROLS)) {
      const at = rest.indexOf(text);
      const clause = linkButton(text, `Try it: ${text}`, () => this.view.edit({ make: edits }));
      clause.dataset.clause = text;
      parts.push(quoted(rest.slice(0, at)), clause);
      rest = rest.slice(at + text.length);
    }
    const compute = () => {
      this.view.all = this.view.about;
      this.view.draw();
    };
    const slow = kind === "slow" && [" ", linkButton("Compute", "Compute the reason", compute)];
    return [parts, quoted(rest), slow, this.offer(clauses), known && [" ", html("span.known.soft", known)]];
  }

  // A second model's verdict, with a link to a comparison if the two differ and the sentence leaves room for it.
  opinion({ labels, probabilities }) {
    const { verdict, explanation, why } = this.view.data;
    const { model } = why.second;
    const best = probabilities.indexOf(Math.max(...probabilities));
    const { label } = verdict.classes[explanation.labels.indexOf(labels[best])];
    const { first, second, model: own } = why.question;
    const { clauses = [] } = this.answer.value ?? {};
    const room = clauses.length + Number(Boolean(this.offer(clauses))) < MOST_CONTROLS;
    const link = `compare?${new URLSearchParams({ model: own, with: model, first, second })}`;
    return [
      html("b", `${label} ${percent(probabilities[best])}`),
      room && label !== verdict.label && [" ", html("a.link", { href: link, target: "_self" }, "Compare")],
    ];
  }
}

const quoted = (text) =>
  text.split(/(“[^”]*”)/).map((part) => (part.startsWith("“") ? html("b", html("bdi", part.slice(1, -1))) : part));
