// The marks of a map: a symbol each class, as a part of one path for all of its points.

// Corners of a star, from its top.
function starred(points, inner) {
  const corners = Array.from({ length: 2 * points }, (_, i) => {
    const [angle, far] = [(Math.PI * i) / points, i % 2 ? inner : 1];
    return [far * Math.sin(angle), -far * Math.cos(angle)];
  });
  const steps = corners.slice(1).map(([x, y], i) => [x - corners[i][0], y - corners[i][1]]);
  return `.0 -1.0 ${steps.map(([x, y]) => `l${x.toFixed(4)} ${y.toFixed(4)}`).join(" ")} z`;
}

// Where a mark begins, seen from its middle, and its outline from there, for a radius of 1: what has a point is a length.
const SHAPES = {
  circle: "-1.0 .0 a1.0 1.0 0 1 0 2.0 0 a1.0 1.0 0 1 0 -2.0 0 z",
  square: "-.9 -.9 h1.8 v1.8 h-1.8 z",
  diamond: ".0 -1.3 l1.3 1.3 l-1.3 1.3 l-1.3 -1.3 z",
  cross: "-.4 -1.2 h.8 v.8 h.8 v.8 h-.8 v.8 h-.8 v-.8 h-.8 v-.8 h.8 z",
  x: ".0 -.55 l.65 -.65 l.55 .55 l-.65 .65 l.65 .65 l-.55 .55 l-.65 -.65 l-.65 .65 l-.55 -.55 l.65 -.65 l-.65 -.65 l.55 -.55 z",
  "triangle-up": ".0 -1.2 l1.15 2.0 h-2.3 z",
  "triangle-down": ".0 1.2 l1.15 -2.0 h-2.3 z",
  "triangle-left": "-1.2 .0 l2.0 -1.15 v2.3 z",
  hourglass: "-1.0 -1.0 h2.0 l-2.0 2.0 h2.0 z",
  bowtie: "-1.0 -1.0 l2.0 2.0 v-2.0 l-2.0 2.0 z",
  asterisk: "-1.2 .0 h2.4 m-1.2 -1.2 v2.4 m-.85 -2.05 l1.7 1.7 m.0 -1.7 l-1.7 1.7",
  star: starred(5, 0.4),
  hexagram: starred(6, 0.58),
};

// What draws a mark of this radius at a place: the text of a path. An "-open" one is drawn by its line alone.
export function marker(symbol, radius) {
  const shape = SHAPES[symbol.replace("-open", "")];
  const scaled = shape.replace(/-?\d*\.\d+/g, (length) => Number((length * radius).toFixed(2)));
  const [, left, top, outline] = /^(\S+) (\S+) (.*)$/.exec(scaled);
  return (x, y) => `M${(x + Number(left)).toFixed(1)} ${(y + Number(top)).toFixed(1)}${outline}`;
}

// The looks of a path of such marks.
export const lookOf = ({ symbol, colour }) =>
  symbol.endsWith("-open") ? { fill: "none", stroke: colour, "stroke-width": 1.5 } : { fill: colour, stroke: "none" };

// The same in a list of what the marks mean.
export const keyMark = ({ symbol }) => marker(symbol, symbol === "star" ? 6 : 4.4);
