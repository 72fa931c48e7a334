// What a phone shows outside of a round: the code, joining, waiting, and a closed room.

import { html } from "../components/create.js";
import { heading, isBusy, say } from "./parts.js";
import { shownCode } from "./sentences.js";

/** @typedef {import("./room").View<import("./room").State>} View */

/** @param {string} wrong why a code was refused @param {string} code as it was typed @returns {View} */
export function codeView(wrong, code) {
  const error = html("p.wrong", { role: "alert" }, wrong);
  const box = html("input.code", { type: "text", value: code, autocomplete: "off", spellcheck: "false" });
  const form = html("form", html("label", "Code on the screen, such as K7QF-M2XN", box), error, main("Open the room"));
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    const typed = shownCode(box.value);
    if (typed) location.assign(`./${typed}`);
    else say(error, "A code has eight letters and digits: check it on the screen.");
  });
  return { element: html("div", heading("Which room?"), form), update: () => {} };
}

/** @param {import("./phone").Phone} phone @returns {View} */
export function joinView(phone) {
  const name = html("input", { type: "text", autocomplete: "off", spellcheck: "false" });
  const word = html("input", { type: "text", autocomplete: "off", autocapitalize: "none", spellcheck: "false" });
  const asksWord = html("label", { hidden: true }, "Room password (ask the lecturer)", word);
  const error = html("p.wrong", { role: "alert" });
  const join = main("Join");
  const form = html("form", asksWord, html("label", "Nickname (optional)", name), error, join);
  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    if (isBusy(join, true)) return;
    say(error, "");
    try {
      await phone.post("join", { nickname: name.value.trim(), word: word.value.trim() });
    } catch (refused) {
      say(error, refused.message);
    } finally {
      isBusy(join, false);
    }
  });
  const kept =
    "The room stores what you send, and a nickname if you give one. All of it is deleted at the latest one day after the room was opened.";
  return {
    element: html("div", heading("Join the room"), form, html("p.soft", kept)),
    update(state) {
      if (state.phase === "join") asksWord.hidden = !state.needs_word;
    },
  };
}

/** @returns {View} */
export const waitingView = () => ({
  element: html("div", heading("You are in"), html("p", "The next round appears here automatically.")),
  update: () => {},
});

/** @returns {View} */
export const closedView = () => ({
  element: html(
    "div",
    heading("This room is closed"),
    html("p", "The room’s data are deleted at the latest one day after it was opened."),
    html("p", html("a", { href: "./" }, "Open another room")),
  ),
  update: () => {},
});

export const main = (text) => html("button.main", { type: "submit" }, text);
