// The marks of a map, as SVG paths relative to their middle, so that all marks of a class are one shape.

import { svg } from "./create.js";

const corners = (points) => `m${points.map(([x, y]) => `${+x.toFixed(2)},${+y.toFixed(2)}`).join("L")}Z`;

// Points on circles around the middle, from the top, alternating between the radii.
const rays = (count, radii) =>
  Array.from({ length: count }, (_, i) => {
    const [angle, radius] = [(2 * Math.PI * i) / count, radii[i % radii.length]];
    return [radius * Math.sin(angle), -radius * Math.cos(angle)];
  });

const square = (r) => [[-r, -r], [r, -r], [r, r], [-r, r]]; // prettier-ignore
const turned = (points) => points.map(([x, y]) => [(x + y) * Math.SQRT1_2, (y - x) * Math.SQRT1_2]);
const plus = (long, wide) => [
  [-wide, -long], [wide, -long], [wide, -wide], [long, -wide], [long, wide], [wide, wide],
  [wide, long], [-wide, long], [-wide, wide], [-long, wide], [-long, -wide], [-wide, -wide],
]; // prettier-ignore

// By name: the corners of each part for a radius. The parts of a mark turn the same way, so that overlapping marks have
// no holes.
const SHAPES = {
  diamond: (r) => [rays(4, [1.3 * r])],
  square: (r) => [square(r)],
  cross: (r) => [plus(1.2 * r, 0.4 * r)],
  x: (r) => [turned(plus(1.2 * r, 0.4 * r))],
  "triangle-up": (r) => [rays(3, [1.15 * r])],
  "triangle-down": (r) => [rays(3, [-1.15 * r])],
  "triangle-left": (r) => [rays(3, [1.15 * r]).map(([x, y]) => [y, -x])],
  hourglass: (r) => [[[-r, -r], [r, -r], [0, 0]], [[0, 0], [r, r], [-r, r]]], // prettier-ignore
  bowtie: (r) => [[[-r, -r], [0, 0], [-r, r]], [[r, -r], [r, r], [0, 0]]], // prettier-ignore
  asterisk: (r) => [plus(1.2 * r, 0.1 * r), turned(plus(1.2 * r, 0.1 * r))],
  star: (r) => [rays(10, [1.4 * r, 0.55 * r])],
  hexagram: (r) => [rays(12, [1.2 * r, 0.7 * r])],
};

const OPEN = "-open";

// The path of one mark, drawn from its middle.
function shapeOf(symbol, r) {
  const name = symbol.replace(OPEN, "");
  if (name === "circle") return `m${-r},0a${r},${r} 0 1,1 ${2 * r},0a${r},${r} 0 1,1 ${-2 * r},0Z`;
  return SHAPES[name](r);
}

/**
 * The path of marks at these places.
 * @param {string} symbol
 * @param {number} size the diameter in pixels
 * @param {number[][]} places in pixels
 */
export function marksAt(symbol, size, places) {
  const shape = shapeOf(symbol, size / 2);
  if (typeof shape === "string") return places.map(([x, y]) => `M${x.toFixed(1)},${y.toFixed(1)}${shape}`).join("");
  const moved = (x, y) => shape.map((part) => corners(part.map(([dx, dy]) => [x + dx, y + dy])).toUpperCase());
  return places.flatMap(([x, y]) => moved(x, y)).join("");
}

// The colours of a mark: an open one has only an outline.
export const lookOf = (symbol, colour) =>
  symbol.endsWith(OPEN) ? { fill: "none", stroke: colour } : { fill: colour, stroke: "none" };

/**
 * A single mark, for a legend.
 * @param {string} symbol
 * @param {number} size
 * @param {Record<string, string>} look attributes
 */
export const markAlone = (symbol, size, look) =>
  svg(
    "svg",
    { width: 16, height: 16, "aria-hidden": "true" },
    svg("path", { d: marksAt(symbol, size, [[8, 8]]), ...look }),
  );
