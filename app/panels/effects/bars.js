// A word with its bar: to the right and filled if it supports the verdict, to the left and hollow if it opposes it.

import { html } from "../../components/create.js";
import { capital, percent, signed } from "../../components/wording.js";

// A word's effect and its spread (either may be unknown), and the probability of the verdict without it.
export const wordOf = (text, index, [effect, spread, after] = []) => ({
  text,
  index,
  effect: effect ?? null,
  spread: spread ?? null,
  after: after ?? null,
});

const LEAST_DRAWN = 0.05; // in the effects' unit; smaller ones have a number but no bar
const CLOSE = 0.2; // share of the scale within which two numbers would overlap

// Whether an effect has a bar. Of numbers without a sign, such as a gradient's norm, only the order is meaningful.
export const drawn = (effect, effects) => Boolean(effects.unsigned) || Math.abs(effect) >= LEAST_DRAWN;

// Both ends of a common scale for these words of a record (if it is known), spread included.
export function rangeOf(words, effects) {
  const known = words.filter(({ effect }) => effect !== null);
  const ends = known
    .filter(({ effect }) => drawn(effect, effects))
    .flatMap(({ effect, spread }) => [effect - (spread ?? 0), effect + (spread ?? 0)]);
  const [low, high] = [Math.min(0, ...ends), Math.max(0, ...ends)];
  return { low, high: high > low ? high : low + 1, known: known.length > 0, effects, bars: ends.length > 0 };
}

// The tick labels, each with its position from 0 to 1: zero, and both ends unless they are next to it.
export function ticksOf({ low, high }) {
  const at = (value) => (value - low) / (high - low);
  return [low, 0, high]
    .filter((value) => value === 0 || Math.abs(at(value) - at(0)) > CLOSE)
    .map((value) => ({ at: at(value), text: signed(value, Math.abs(value) < 10 ? 2 : 0) }));
}

// The meaning of the bars' lengths: the last line of a list.
export function axisLine(range) {
  if (!range.bars) return null;
  const ticks = ticksOf(range).map(({ at, text }) =>
    html(
      "span",
      { style: `left:${(100 * at).toFixed(1)}%`, class: at < CLOSE ? "first" : at > 1 - CLOSE && "final" },
      text,
    ),
  );
  return html(
    "li.effect-axis.tiny",
    { "aria-hidden": "true" },
    html("span.unit", unitOf(range)),
    html("span.track", ticks),
    html("span"),
  );
}

const share = (value, { unit }) => (unit === "score" ? value.toFixed(2) : percent(value));
/** @param {number|null} effect @param {{ unit?: string, unsigned?: { says: string } | null }} of */
const said = (effect, { unit, unsigned } = {}) => {
  if (effect === null) return "has no effect by this method";
  if (unsigned) return unsigned.says.replace("{}", effect.toPrecision(3));
  if (unit === "score") return `${effect < 0 ? "lowers" : "raises"} the score by ${Math.abs(effect).toFixed(2)}`;
  const inUnit = unit === "log p" ? " nats (log p)" : unit ? ` (${unit})` : "";
  return `${effect < 0 ? "opposes" : "supports"} the verdict by ${Math.abs(effect).toFixed(2)}${inUnit}`;
};

// All known facts about a word, in one line. `known`: the bars' record; `verdict`: the class that is followed.
export function factsOf({ text, effect, spread, after }, known, verdict) {
  const facts = [
    `${text}: ${said(effect, known ?? undefined)}`,
    spread === null ? null : `spread ${spread.toFixed(2)}`,
    after === null
      ? null
      : `${verdict} ${share(known.probability, known)} with it, ${share(after, known)} ${known.method === "dropped" ? "without" : "on average without it or with another word"}`,
  ];
  return facts.filter(Boolean).join("; ");
}

// A word's bar and its number.
export const barOf = ({ effect, spread }, range) => [
  html("span.track", range.known && effect !== null && drawn(effect, range.effects) && bar(effect, spread, range)),
  html("span.number", range.known ? (effect === null ? "–" : signed(effect, 2)) : ""),
];

// A line of a list: the word (an element), its bar and its number.
export const barLine = (word, effect, range, title) => html("li", { title }, word, barOf(effect, range));

function unitOf({ effects: { unit, unsigned }, bars }) {
  if (!bars) return "";
  return unsigned?.axis ?? (unit === "log p" ? "log p, nats" : unit);
}

// The lines of a sentence, next to its role.
export function barList(role, lines) {
  const name = html("div.role.soft", capital(role));
  return html("div.side.labelled", { "data-role": role }, name, html("ol.bar-lines.mid", lines));
}

function bar(effect, spread, { low, high }) {
  const at = (value) => (100 * (value - low)) / (high - low);
  const between = (from, to) => `left:${at(Math.min(from, to))}%;width:${Math.abs(at(to) - at(from))}%`;
  return [
    html("i.zero", { style: `left:${at(0)}%` }),
    html("i.effect", { class: effect < 0 ? "opposes" : "supports", style: between(0, effect) }),
    spread !== null && html("i.spread", { style: between(effect - spread, effect + spread) }),
  ];
}
