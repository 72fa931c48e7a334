// The marks of a map: a symbol each class, as a part of one path for all of its points.

const along = (corners) =>
  corners.map(([x, y], i) => [x - (i ? corners[i - 1][0] : 0), y - (i ? corners[i - 1][1] : 0)]);
// Corners of a star, from its top.
const starred = (points, inner) =>
  Array.from({ length: 2 * points }, (_, i) => {
    const [angle, far] = [(Math.PI * i) / points, i % 2 ? inner : 1];
    return [far * Math.sin(angle), -far * Math.cos(angle)];
  });
const CORNERS = {
  square: [
    [-0.9, -0.9],
    [0.9, -0.9],
    [0.9, 0.9],
    [-0.9, 0.9],
  ],
  diamond: [
    [0, -1.3],
    [1.3, 0],
    [0, 1.3],
    [-1.3, 0],
  ],
  cross: [
    [-0.4, -1.2],
    [0.4, -1.2],
    [0.4, -0.4],
    [1.2, -0.4],
    [1.2, 0.4],
    [0.4, 0.4],
    [0.4, 1.2],
    [-0.4, 1.2],
    [-0.4, 0.4],
    [-1.2, 0.4],
    [-1.2, -0.4],
    [-0.4, -0.4],
  ],
  x: [
    [0, -0.55],
    [0.65, -1.2],
    [1.2, -0.65],
    [0.55, 0],
    [1.2, 0.65],
    [0.65, 1.2],
    [0, 0.55],
    [-0.65, 1.2],
    [-1.2, 0.65],
    [-0.55, 0],
    [-1.2, -0.65],
    [-0.65, -1.2],
  ],
  "triangle-up": [
    [0, -1.2],
    [1.15, 0.8],
    [-1.15, 0.8],
  ],
  "triangle-down": [
    [0, 1.2],
    [1.15, -0.8],
    [-1.15, -0.8],
  ],
  "triangle-left": [
    [-1.2, 0],
    [0.8, -1.15],
    [0.8, 1.15],
  ],
  hourglass: [
    [-1, -1],
    [1, -1],
    [-1, 1],
    [1, 1],
  ],
  bowtie: [
    [-1, -1],
    [1, 1],
    [1, -1],
    [-1, 1],
  ],
  star: starred(5, 0.4),
  hexagram: starred(6, 0.58),
};

// What draws a mark of this radius at a place: the text of a path. An "-open" one is drawn by its line alone.
export function marker(symbol, radius) {
  const shape = symbol.replace("-open", "");
  const number = (value) => Number((value * radius).toFixed(2));
  if (shape === "circle") {
    const [r, all] = [number(1), number(2)];
    return (x, y) => `M${(x - r).toFixed(1)} ${y.toFixed(1)}a${r} ${r} 0 1 0 ${all} 0a${r} ${r} 0 1 0 ${-all} 0z`;
  }
  if (shape === "asterisk") {
    const [long, whole, side, across] = [1.2, 2.4, 0.85, 1.7].map(number);
    const strokes = `h${whole}m${-long} ${-long}v${whole}m${-side} ${number(-2.05)}l${across} ${across}m0 ${-across}l${-across} ${across}`;
    return (x, y) => `M${(x - long).toFixed(1)} ${y.toFixed(1)}${strokes}`;
  }
  const [[left, top], ...steps] = along(CORNERS[shape]);
  const rest = `${steps.map(([x, y]) => `l${number(x)} ${number(y)}`).join("")}z`;
  return (x, y) => `M${(x + left * radius).toFixed(1)} ${(y + top * radius).toFixed(1)}${rest}`;
}

// The looks of a path of such marks.
export const lookOf = ({ symbol, colour }) =>
  symbol.endsWith("-open") ? { fill: "none", stroke: colour, "stroke-width": 1.5 } : { fill: colour, stroke: "none" };

// The same in a list of what the marks mean.
export const keyMark = ({ symbol }) => marker(symbol, symbol === "star" ? 6 : 4.4);
