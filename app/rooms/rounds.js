// The three rounds on a phone: guess, break it, teach.

import { html } from "../components/create.js";
import { capital, the } from "../components/wording.js";
import { main } from "./entry.js";
import { barList, choice, heading, isBusy, pair, say, words } from "./parts.js";
import { answerTitle, bars, fate, guesses, outcome, question, taught, titleOf, verdict } from "./sentences.js";

/** @import { Break, Check, Guess, Result, Sent, Teach, View } from "./room" */

/** @typedef {import("./phone").Phone} Phone */

/**
 * Draws a part again only if its data have changed.
 * @template T
 * @param {HTMLElement} node
 * @param {(data: T) => Node | Node[]} draw
 * @returns {(data: T) => void}
 */
function redrawn(node, draw) {
  let known = "";
  return (data) => {
    const now = JSON.stringify(data);
    if (now !== known) node.replaceChildren(...[draw(data)].flat());
    known = now;
  };
}

/** @param {Phone} phone @param {Guess} round @returns {View<Guess>} */
export function guessView(phone, round) {
  let [sent, wanted, sending] = [round.mine, round.mine, false];
  const note = html("p.answer", { role: "status" });
  const { word, roles } = round;
  const chosen = word
    ? words(`Tap a word of ${the(roles[1 - word.side])}`, word.tokens[1 - word.side], send)
    : choice("Your guess", round.classes, send);
  chosen.set(sent);
  const results = html("section", { hidden: true });
  const fill = redrawn(results, (/** @type {Guess} */ now) => [
    html("p.answer", html("b", outcome(now))),
    html("h2", guesses(now.revealed.counts)),
    barList(bars(now.revealed, now.mine), now.classes),
  ]);

  async function send(value) {
    wanted = value;
    if (sending) return;
    sending = true;
    try {
      while (wanted !== sent) {
        const next = wanted;
        say(note, "Sending…");
        await phone.post("guess", { round: round.id, value: next });
        sent = next;
      }
      say(note, `Your guess: ${answerTitle(round, sent)}. You can change it until the answer is shown.`);
    } catch (refused) {
      wanted = sent;
      chosen.set(sent);
      say(note, refused.message);
    } finally {
      sending = false;
    }
  }

  const texts = word ? word.tokens.map((tokens, side) => wordsOf(tokens, side === word.side ? word.index : -1)) : null;
  return {
    element: html(
      "div",
      heading(question(round)),
      pair(roles, texts ?? [round.first, round.second]),
      chosen.element,
      note,
      results,
    ),
    update(now) {
      if (!sending && now.mine !== sent) {
        sent = wanted = now.mine;
        chosen.set(sent);
      }
      const over = now.revealed !== null;
      chosen.element.disabled = phone.muted;
      chosen.element.hidden = note.hidden = over;
      results.hidden = !over;
      if (over) fill(now);
    },
  };
}

const wordsOf = (tokens, asked) => tokens.map((token, i) => [i === asked ? html("mark", token) : token, " "]);

/** @param {Phone} phone @param {Break} round @returns {View<Break>} */
export function breakView(phone, round) {
  const draft = phone.draft(round.id, { first: round.first, second: round.second, label: "" });
  const box = (name, role) =>
    html(
      "label",
      capital(role),
      html("textarea", {
        rows: 2,
        dir: "auto",
        spellcheck: "false",
        oninput: (event) => (draft[name] = event.target.value),
      }),
    );
  const boxes = [box("first", round.roles[0]), box("second", round.roles[1])];
  boxes.forEach((label, i) => (label.querySelector("textarea").value = [draft.first, draft.second][i]));
  const chosen = choice("What is right?", round.classes, (name) => (draft.label = name));
  chosen.set(draft.label);
  const button = main("Send to the model");
  const answer = html("div.answer", { role: "status" });
  const fields = html("fieldset", html("form", boxes, chosen.element, button, answer));
  fields.querySelector("form").addEventListener("submit", (event) => {
    event.preventDefault();
    send();
  });

  async function send() {
    if (!draft.label) return answer.replaceChildren(html("p.wrong", "Choose first what is right."));
    if (isBusy(button, true)) return null;
    answer.replaceChildren(html("p", "The model reads…"));
    try {
      /** @type {Sent} */
      const sent = await phone.post("pair", { round: round.id, ...draft });
      const sentence = html("p", sent.sentence);
      answer.replaceChildren(html("p", html("b", verdict(sent, round.classes))), sentence);
      if (!sent.sentence) explain(sent.id, sentence);
    } catch (refused) {
      answer.replaceChildren(html("p.wrong", refused.message));
    } finally {
      isBusy(button, false);
    }
  }

  async function explain(id, place) {
    try {
      say(place, (await phone.post("sentence", { pair: id })).sentence);
    } catch {
      // The verdict stands without its sentence.
    }
  }

  const check = checkPart(phone, round);
  const own = html("section", { hidden: true });
  const fill = redrawn(own, (/** @type {Sent[]} */ pairs) => [
    html("h2", "Your pairs"),
    html(
      "ol.sent",
      pairs.map((sent) => sentPair(sent, round)),
    ),
  ]);
  const how = "Change the texts until the model is wrong, and choose the right class.";
  return {
    element: html("div", check.element, heading("Fool the model"), html("p", how), fields, own),
    update(now) {
      fields.disabled = phone.muted;
      check.update(now.check);
      own.hidden = !now.pairs.length;
      fill(now.pairs);
    },
  };
}

const sentPair = (sent, { classes }) =>
  html(
    "li",
    html("p", html("bdi", sent.first), " / ", html("bdi", sent.second)),
    html("p.soft", `You: ${titleOf(classes, sent.label)}. ${verdict(sent, classes)} ${fate(sent)}`),
    sent.sentence && html("p.soft", sent.sentence),
  );

// A classmate's pair. It opens only when its button is pressed, and closes when it is sent, so that nothing moves under a
// finger.
function checkPart(phone, round) {
  const none = html("p.waiting.soft", { role: "status", tabindex: "-1" });
  const open = html("button.waiting", { onclick: unfold }, "A classmate’s pair: what is right?");
  const card = html("section.card");
  /** @type {Check | null} */
  let asked = null;
  function show(part) {
    for (const one of [none, open, card]) one.hidden = one !== part;
  }
  function close(text) {
    const held = card.contains(document.activeElement);
    say(none, text);
    show(none);
    card.replaceChildren();
    if (held) none.focus();
  }
  function unfold() {
    const { pair: id, first, second } = asked;
    const title = html("h2", { tabindex: "-1" }, "A classmate’s pair");
    const error = html("p.wrong", { role: "alert" });
    const chosen = choice("What is right?", [...round.classes, { name: "unsure", title: "Not sure" }], () => {});
    const send = html("button.main", { onclick: deliver }, "Send");
    async function deliver() {
      if (!chosen.get()) return say(error, "Choose one of them first.");
      if (isBusy(send, true)) return null;
      try {
        await phone.post("check", { pair: id, label: chosen.get() });
        close("Thank you. The next pair appears here.");
      } catch (refused) {
        close(refused.message);
      }
    }
    card.replaceChildren(title, pair(round.roles, [first, second]), chosen.element, error, send);
    show(card);
    title.focus();
  }
  close("Classmates’ pairs to check appear here.");
  return {
    element: html("div", none, open, card),
    update(/** @type {Check | null} */ now) {
      if (!card.hidden) return;
      asked = now;
      if (now) show(open);
      else if (!open.hidden) show(none);
    },
  };
}

/** @returns {View<Teach>} */
export function teachView() {
  const said = html("div", { role: "status" });
  const fill = redrawn(said, (/** @type {Result | null} */ result) =>
    result
      ? [html("p.answer", html("b", taught(result))), html("p.soft", result.suites)]
      : html("p", "The model learns from the class’s pairs. The result appears here automatically."),
  );
  return {
    element: html("div", heading("Teach the model"), said),
    update: (now) => fill(now.result),
  };
}
