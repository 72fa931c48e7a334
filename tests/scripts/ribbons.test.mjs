import assert from "node:assert/strict";
import { test } from "node:test";
import { missingRibbons, routeOf, rowsOf } from "../../app/components/ribbon_paths.js";

const HEIGHT = 20;
const ORIGIN = { top: 0, left: 0 };

// Shapes of words 50 pixels wide, counts[i] of them on line i, lines 30 pixels apart.
const lines = (counts, top = 0) =>
  counts.flatMap((count, line) =>
    Array.from({ length: count }, (_, place) => {
      const y = top + 30 * line;
      return { top: y, bottom: y + HEIGHT, left: 60 * place, width: 50 };
    }),
  );

// Points along a path.
function points(path) {
  const out = [];
  for (const command of path.match(/[MLC][^MLC]*/g)) {
    const ends = command
      .slice(1)
      .trim()
      .split(" ")
      .map((pair) => pair.split(",").map(Number));
    const from = out.at(-1) ?? ends[0];
    for (let i = 0; i <= 50; i += 1) {
      const t = i / 50;
      const parts = [(1 - t) ** 3, 3 * t * (1 - t) ** 2, 3 * t ** 2 * (1 - t), t ** 3];
      const curved = (axis) => parts.reduce((sum, part, k) => sum + part * [from, ...ends][k][axis], 0);
      const straight = (axis) => from[axis] + (ends[0][axis] - from[axis]) * t;
      out.push([0, 1].map(command[0] === "C" ? curved : straight));
    }
  }
  return out;
}

const CASES = [
  [[5], [4]],
  [[5, 2], [4]],
  [
    [5, 5, 1],
    [5, 3],
  ],
  [
    [1, 5, 5],
    [2, 5, 5],
  ],
];

for (const [upper, lower] of CASES) {
  test(`a ribbon never runs behind the words of another line: ${upper} over ${lower}`, () => {
    const [above, below] = [lines(upper), lines(lower, 30 * upper.length + 40)];
    const frames = [above, below].map((side) => ({ top: side[0].top, bottom: side.at(-1).bottom, right: 320 }));
    const [from, to] = [rowsOf(above, frames[0], true, ORIGIN), rowsOf(below, frames[1], false, ORIGIN)];
    for (const path of from.flatMap((one) => to.map((other) => routeOf(one, other)))) {
      for (const [x, y] of points(path)) {
        const behind = [...above, ...below].some(
          ({ left, width, top, bottom }) => left < x && x < left + width && top < y && y < bottom,
        );
        assert.ok(!behind, path);
      }
    }
  });
}

test("a ribbon to a word that is scrolled away ends at its frame", () => {
  const ends = rowsOf(lines([5, 5, 5, 5]), { top: 30, bottom: 80, right: 320 }, true, ORIGIN);
  assert.ok(ends.every(({ y }) => y >= 30 && y <= 80));
  assert.deepEqual(
    ends.map(({ margin }) => margin === null),
    [...Array(10).fill(false), ...Array(10).fill(true)],
  );
});

test("ribbons of other lines that are not drawn are counted", () => {
  assert.equal(missingRibbons(0), "All ribbons are drawn.");
  assert.equal(missingRibbons(1), "1 ribbon of other lines not drawn: point at a word to see it.");
  assert.equal(missingRibbons(3), "3 ribbons of other lines not drawn: point at a word to see them.");
});
