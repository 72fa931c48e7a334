// What a phone says, and how long it waits: functions without a page.

import { percent, plural, the } from "../components/wording.js";

/** @import { Class, Count, Guess, Result, Revealed, Sent, State } from "./room" */

const LETTERS = 8;
const SECONDS = [2, 4, 8, 15]; // between two requests, by the number of failures
export const FEW = 6; // classes that are all shown at once

/** The code in the path of a room's page. @param {string} path */
export const codeIn = (path) => /\/room\/([^/]*)$/.exec(path)?.[1] ?? "";

/** A code as it is shown, of one that was typed or pasted with its address; empty if it cannot be one. @param {string} typed */
export function shownCode(typed) {
  const code = typed
    .replace(/^.*\/room\//, "")
    .replace(/[\s-]/g, "")
    .toUpperCase();
  return /^[A-Z0-9]+$/.test(code) && code.length === LETTERS ? `${code.slice(0, 4)}-${code.slice(4)}` : "";
}

/**
 * Milliseconds until the next request, after `failures`, or `wait` seconds if the server says so; `chance`, from 0 to 1,
 * keeps phones from sending it all at once.
 * @param {number} failures
 * @param {number} wait
 * @param {number} chance
 */
export const pause = (failures, wait, chance) =>
  1000 * (wait ? wait * (1 + 0.2 * chance) : SECONDS[Math.min(failures, SECONDS.length - 1)] * (0.8 + 0.4 * chance));

/** What is on the page: it is drawn again only if this changes. @param {State} state */
export function viewOf(state) {
  if (state.phase !== "open") return state.phase;
  return state.round ? `${state.round.kind} ${state.round.id}` : "waiting";
}

/** @param {Class[]} classes @param {string} name */
export const titleOf = (classes, name) => classes.find((one) => one.name === name)?.title ?? name;

/** @param {Guess} round @param {string} value a class, or a word's position */
export const answerTitle = ({ word, classes }, value) =>
  word ? `“${word.tokens[1 - word.side][Number(value)] ?? value}”` : titleOf(classes, value);

/** @param {Guess} round */
export function question({ word, roles }) {
  if (!word) return "What does the model say?";
  const { side, index, tokens } = word;
  return `Which word of ${the(roles[1 - side])} does “${tokens[side][index]}” look at?`;
}

/** @param {Guess} round */
export function outcome(round) {
  const { answer, chance, people } = round.revealed;
  const sure = chance === null ? "" : ` (${percent(chance)})`;
  const said = round.word
    ? `In the model it looks at ${answerTitle(round, answer)}${sure}.`
    : `The model says ${answerTitle(round, answer)}${sure}.`;
  const parts = [said];
  if (people) parts.push(`People say ${answerTitle(round, people)}.`);
  if (round.mine)
    parts.push(round.mine === answer ? "You guessed it." : `You guessed ${answerTitle(round, round.mine)}.`);
  return parts.join(" ");
}

/**
 * The bars of a guess: all of a few answers in order; of many, those that somebody gave, the most frequent first.
 * @param {Revealed} revealed
 * @param {string} mine
 */
export function bars({ counts, answer, people }, mine) {
  const most = Math.max(1, ...counts.map(({ count }) => count));
  const named = (value) => [value === answer && "model", value === people && "people", value === mine && "you"];
  const all = counts.map((one) => ({ ...one, share: one.count / most, tags: named(one.value).filter(Boolean) }));
  if (all.length <= FEW) return all;
  return all.filter(({ count, tags }) => count || tags.length).sort((one, other) => other.count - one.count);
}

/** @param {Count[]} counts */
export function guesses(counts) {
  const all = counts.reduce((sum, { count }) => sum + count, 0);
  return plural(all, "guess", "guesses");
}

/** @param {Sent} sent @param {Class[]} classes */
export const verdict = ({ verdict: said, chance, fooled }, classes) =>
  `It says ${titleOf(classes, said)} (${percent(chance)}): ${fooled ? "you fooled it." : "it agrees with you."}`;

/** What becomes of a pair. @param {Sent} sent */
export const fate = ({ status }) =>
  ({
    right: "",
    checking: "Two classmates check it.",
    agreed: "Your classmates agree with you: it counts.",
    disputed: "Your classmates do not agree with you.",
    removed: "The lecturer removed it.",
  })[status];

/** @param {Result} result */
export function taught({ taught, held_back, before, after }) {
  const pairs = plural(taught, "pair", "pairs");
  const kept = plural(held_back, "other pair", "other pairs");
  return `The model learned from ${pairs} of this class. Of ${kept}, which it did not see, it had ${before} right before, and has ${after} now.`;
}
