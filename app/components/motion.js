// Moving numbers: copies of the numbers in some cells move to the cell that is computed from them.

import { html } from "./create.js";

const MILLISECONDS = 600;
const MOST = 120; // copies at once; more could not be followed

const numberIn = (cell) => cell.querySelector("input")?.value ?? cell.querySelector(".text").textContent;

// Whether the system requests reduced motion.
export const calm = () => window.matchMedia("(prefers-reduced-motion: reduce)").matches;

// Of all ways, one for each source; sources with the same targets take turns.
export function once(all) {
  const targets = new Map(all.map(([from]) => [from, []]));
  for (const [from, to] of all) targets.get(from).push(to);
  return [...targets].map(([from, to], i) => [from, to[i % to.length]]);
}

// Moves numbers within `frame`, a positioned element, along `ways`, a list of [source cells, target cell]. Returns a
// function that ends the motion; `then` is called when all have arrived. Nothing moves if the system requests reduced
// motion.
export function travel(frame, ways, then = () => {}) {
  const all = ways.flatMap(([from, to]) => from.map((cell) => [cell, to]));
  const steps = all.length > MOST ? once(all) : all;
  if (calm() || !steps.length || steps.length > MOST) return () => {};
  const base = frame.getBoundingClientRect();
  const middle = (cell) => {
    const { left, top, width, height } = cell.getBoundingClientRect();
    return [left + width / 2 - base.left + frame.scrollLeft, top + height / 2 - base.top + frame.scrollTop];
  };
  const paths = steps.map((cells) => cells.map(middle));
  const layer = html(
    "div.travelling",
    { "aria-hidden": "true" },
    steps.map(([from]) => html("span", numberIn(from))),
  );
  const end = () => {
    layer.remove();
    for (const move of moves) move.cancel(); // else removed copies would still arrive
    for (const [, to] of ways) to.classList.remove("awaited");
  };
  for (const [, to] of ways) to.classList.add("awaited");
  frame.append(layer);
  const at = ([x, y]) => ({ transform: `translate(${x}px, ${y}px) translate(-50%, -50%)` });
  const moves = [...layer.children].map((copy, i) =>
    copy.animate(paths[i].map(at), { duration: MILLISECONDS, easing: "ease-in-out", fill: "both" }),
  );
  moves[0].onfinish = () => {
    end();
    then();
  };
  return end;
}
