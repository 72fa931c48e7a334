// On the Error desk: the words of the open row with the largest effects, for each model.

import { axisLine, barLine, barList, factsOf, rangeOf, wordOf } from "../panels/effects/bars.js";
import { Answer } from "./ask.js";
import { html } from "./create.js";
import { refill } from "./elements.js";
import { capital } from "./wording.js";
import { VIEWS, View } from "./view.js";

const MOST = 6; // listed words

/** @extends {View<import("./payloads").Drawn["rowEffects"]>} */
class RowEffectsView extends View {
  build() {
    for (const { answer } of this.models ?? []) answer.ask(null);
    this.models = this.data.models.map((model) => {
      const answer = new Answer("why", "Computing …", "word effects", () => this.draw());
      answer.ask(model.question, this.leave.signal);
      return { ...model, answer, place: html("div.effects.panel") };
    });
    const reading =
      "Filled, to the right: the word supports the verdict; hollow, to the left: it opposes it. The number is log p before minus after the word is removed. Explore has all words and other methods.";
    return [...this.models.map(({ place }) => place), html("p.how.soft", reading)];
  }

  draw() {
    for (const { letter, names, answer, place } of this.models) {
      const effects = answer.value;
      const verdict = effects ? `“${names[effects.verdict]}”` : "the verdict";
      refill(
        place,
        html("h3.mid", `${letter}: how each word affects ${verdict}, largest effects first`),
        answer.element,
        effects && this.lists(effects, names[effects.verdict]),
      );
    }
  }

  lists(effects, verdict) {
    const target = effects.labels.indexOf(effects.verdict);
    const known = effects.words.filter(({ effect }) => effect !== null);
    known.sort((a, b) => Math.abs(b.effect) - Math.abs(a.effect));
    const words = known.slice(0, MOST).map(({ role, text, index, effect, spread, probabilities }) => ({
      role,
      ...wordOf(text, index, [effect, spread, probabilities?.[target]]),
    }));
    const range = rangeOf(words, effects);
    const lists = Array.from(
      Map.groupBy(words, ({ role }) => role),
      ([role, own]) => {
        const lines = own.map((word) =>
          barLine(html("span.word", { dir: "auto" }, word.text), word, range, factsOf(word, effects, verdict)),
        );
        return barList(capital(role), [...lines, axisLine(range)]);
      },
    );
    const longest = Math.max(...words.map(({ text }) => text.length)); // so that no word is broken
    const style = `--parts: min(${longest + 1}ch, 45%) minmax(40px, 1fr) calc(48px * var(--type))`;
    return html("div.words-and-bars", { style }, lists);
  }
}

VIEWS.rowEffects = (root) => new RowEffectsView(root);
