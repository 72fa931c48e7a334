// A word with its bar: to the right and filled where it supports the verdict, to the left and hollow where it opposes it.

import { capital, html, percent, signed } from "../../components/elements.js";

// A word's effect and its spread, which may be unknown, and the probability of the verdict without it.
export const wordOf = (text, index, [effect, spread, after] = []) => ({
  text,
  index,
  effect: effect ?? null,
  spread: spread ?? null,
  after: after ?? null,
});

// Both ends of one scale for all of these words, spread included.
export function rangeOf(words) {
  const known = words.filter(({ effect }) => effect !== null);
  const ends = known.flatMap(({ effect, spread }) => [effect - (spread ?? 0), effect + (spread ?? 0)]);
  const [low, high] = [Math.min(0, ...ends), Math.max(0, ...ends)];
  return { low, high: high > low ? high : low + 1, known: known.length > 0 };
}

const share = (value, { unit }) => (unit === "score" ? value.toFixed(2) : percent(value));
const said = (effect, unit) => {
  if (effect === null) return "has no effect by this way";
  if (unit === "norm") return `length ${effect.toPrecision(3)}`;
  if (unit === "score") return `${effect < 0 ? "lowers" : "raises"} the score by ${Math.abs(effect).toFixed(2)}`;
  return `${effect < 0 ? "opposes" : "supports"} the verdict by ${Math.abs(effect).toFixed(2)}`;
};

// All that is known of a word, in one line. `known`: the bars' own record; `verdict`: the class that is followed.
export function factsOf({ text, effect, spread, after }, known, verdict) {
  const facts = [
    `${text}: ${said(effect, known?.unit)}`,
    spread === null ? null : `spread ${spread.toFixed(2)}`,
    after === null ? null : `${verdict} ${share(known.probability, known)} with it, ${share(after, known)} without`,
  ];
  return facts.filter(Boolean).join("; ");
}

// A line of a list: the word (an element), its bar and its number.
export function barLine(word, { effect, spread }, range, title) {
  return html(
    "li",
    { title },
    word,
    html("span.track", range.known && effect !== null && bar(effect, spread, range)),
    html("span.number", range.known ? (effect === null ? "–" : signed(effect, 2)) : ""),
  );
}

// The lines of a sentence, beside its role.
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
