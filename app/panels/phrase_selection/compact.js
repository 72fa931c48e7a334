// On Explore: the phrases of both sentences that each pooling keeps at the k used in training.

import { html } from "../../components/create.js";
import { heading } from "../../components/elements.js";
import { capital } from "../../components/wording.js";
import { PANELS } from "../../components/view.js";
import { LARGEST_K, POOLINGS, POOLING_NAMES, Phrases, poolingSign } from "./phrases.js";

class KeptPhrases {
  /** @param {import("../../components/pair.js").PairView} view */
  constructor(view) {
    this.view = view;
    const phrases = new Phrases({ explanation: view.data.explanation, classes: [] });
    const { pooling: trained, k: trainedK } = phrases.trained;
    const k = Math.min(trainedK, LARGEST_K);
    const how = `What the rest of the model reads of each sentence with k = ${k}; ${trained === "full" ? "it was trained with full pooling, which keeps all phrases" : `it was trained with ${POOLING_NAMES[trained]}`}.`;
    const more =
      "Each phrase of up to 7 words looks for its best partner in the other sentence. k-min keeps the k phrases with the least similar best partners, k-max the k with the most similar ones. " +
      "The page Phrases shows every k, the partners and the verdict under each pooling.";
    this.phrases = [];
    this.element = html(
      "section",
      { "aria-label": "The phrases that are kept" },
      heading("The phrases that are kept", how, more),
      html(
        "div.columns.brief.halves",
        POOLINGS.map((pooling) =>
          html(
            "section",
            { class: `column ${pooling}`, "data-pooling": pooling, "aria-label": POOLING_NAMES[pooling] },
            html(
              "div.title.headline",
              poolingSign(pooling),
              html("h2", POOLING_NAMES[pooling]),
              html("span.note.soft", pooling === trained ? "as trained" : "what if"),
            ),
            phrases.sides.map(({ role }, side) =>
              this.rebuilt(
                role,
                phrases.pooled(pooling, k, side).map((index) => phrases.phrase(side, index).span),
              ),
            ),
          ),
        ),
      ),
    );
  }

  rebuilt(role, spans) {
    const { tokens, axis } = this.view.sideOf(role);
    const texts = spans.map(([first, last]) => {
      const text = html("span.phrase", { dir: "auto" }, tokens.slice(first, last).join(" "));
      this.phrases.push({ text, axis, first, last });
      return text;
    });
    return html(
      "div.rebuilt.labelled",
      { "data-role": role },
      html("span.role.soft", capital(role)),
      html("div.phrases.wraps.mid", texts),
    );
  }

  // Marks the phrases that contain the selected word.
  draw() {
    for (const { text, axis, first, last } of this.phrases) {
      const word = this.view.selection[axis];
      text.classList.toggle("on", word !== null && word >= first && word < last);
    }
  }
}

PANELS.phrase_selection = { place: "main", make: (view) => new KeptPhrases(view) };
