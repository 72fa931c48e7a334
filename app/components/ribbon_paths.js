// Paths of the ribbons between two sentences, which never run behind the words of another line.

import { plural } from "./wording.js";

const SAME_LINE = 4; // pixels by which the upper edges of a line's words may differ
const MARGIN = 7; // pixels from the end of the lines to the ribbons next to them

/**
 * The end of a ribbon to each word. If other lines of its sentence are between a word and the other sentence, the end
 * is between two lines, and the path runs along their `margin`.
 * @typedef {{ top: number, bottom: number, left: number, width: number, right?: number }} Shape
 * @typedef {{ x: number, y: number, margin: { x: number, y: number, edge: number } | null }} End
 * @param {Shape[]} words
 * @param {{ top: number, bottom: number, right: number }} frame of the sentence; words outside it are scrolled out of view
 * @param {boolean} above whether the sentence is the upper one
 * @param {{ top: number, left: number }} origin
 * @returns {End[]}
 */
export function rowsOf(words, frame, above, origin) {
  const seen = words.filter(({ top, bottom }) => bottom > frame.top + SAME_LINE && top < frame.bottom - SAME_LINE);
  const facing = above ? Math.max(...seen.map(({ top }) => top)) : Math.min(...seen.map(({ top }) => top));
  const edge = above ? Math.max(...seen.map(({ bottom }) => bottom)) : facing;
  const lines = [...new Set(words.map(({ top }) => Math.round(top)))].sort((one, other) => one - other);
  return words.map(({ top, bottom, left, width }) => {
    const far = above ? top < facing - SAME_LINE : top > facing + SAME_LINE;
    // A ribbon to a word scrolled out of view ends at the frame's edge.
    const y = Math.min(frame.bottom, Math.max(frame.top, above ? bottom : top)) - origin.top;
    const x = left + width / 2 - origin.left;
    if (!far) return { x, y, margin: null };
    const next = above
      ? lines.find((line) => line >= bottom - SAME_LINE)
      : Math.max(...words.filter((word) => word.bottom <= top + SAME_LINE).map((word) => word.bottom));
    const between = (next - (above ? bottom : top)) / 2;
    const inside = Math.min(frame.bottom, Math.max(frame.top, (above ? bottom : top) + between)) - origin.top;
    return { x, y, margin: { x: frame.right - MARGIN - origin.left, y: inside, edge: edge - origin.top } };
  });
}

// What is said of the ribbons between lines that do not face each other, which are drawn for a selected word only.
export function missingRibbons(count) {
  if (!count) return "All ribbons are drawn.";
  return `${plural(count, "ribbon", "ribbons")} of other lines not drawn: point at a word to see ${count === 1 ? "it" : "them"}.`;
}

/**
 * The path of a ribbon between two ends.
 * @param {End} one
 * @param {End} other
 */
export function routeOf(one, other) {
  const out = ({ x, y, margin }) =>
    margin ? `M${x},${y}L${x},${margin.y}L${margin.x},${margin.y}L${margin.x},${margin.edge}` : `M${x},${y}`;
  const back = ({ x, y, margin }) => (margin ? `L${margin.x},${margin.y}L${x},${margin.y}L${x},${y}` : "");
  const from = one.margin ? [one.margin.x, one.margin.edge] : [one.x, one.y];
  const to = other.margin ? [other.margin.x, other.margin.edge] : [other.x, other.y];
  const bend = (to[1] - from[1]) * 0.5;
  return `${out(one)}C${from[0]},${from[1] + bend} ${to[0]},${to[1] - bend} ${to[0]},${to[1]}${back(other)}`;
}
