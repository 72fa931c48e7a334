import assert from "node:assert/strict";
import { test } from "node:test";
import { marksAt } from "../../app/components/map_symbols.js";
import { Plane } from "../../app/components/plane.js";

const near = (values, expected) =>
  values.forEach((value, i) => assert.ok(Math.abs(value - expected[i]) < 1e-9, `${values}, not ${expected}`));

test("a plane holds its ranges with one scale for both axes, y upwards", () => {
  const plane = Plane.holding([[-10, 10], [0, 10]], [400, 100]); // prettier-ignore
  assert.equal(plane.unit, 10);
  near(plane.at([0, 5]), [200, 50]);
  near(plane.at([0, 10]), [200, 0]);
  near(plane.at([-10, 0]), [100, 100]);
  assert.ok(plane.holds([-10, 0]) && !plane.holds([0, 10.1]));
});

test("zooming keeps the middle, dragging moves all points by the same pixels, a wider window shows the same", () => {
  const plane = Plane.holding([[0, 4], [0, 4]], [200, 200]); // prettier-ignore
  near(plane.zoomed(2).at([2, 2]), [100, 100]);
  near(plane.zoomed(2).at([3, 2]), [200, 100]);
  for (const point of [
    [1, 1],
    [3, 2],
  ]) {
    // prettier-ignore
    const [x, y] = plane.at(point);
    near(plane.moved(30, -10).at(point), [x + 30, y - 10]);
  }
  near(plane.resized([400, 400]).at([4, 2]), [400, 200]);
});

test("each symbol is drawn at each place, and all its parts turn the same way", () => {
  const symbols = [...JSON.parse(process.env.SYMBOLS), "star", "hexagram"];
  const area = (corners) =>
    corners.reduce((sum, [x, y], i) => {
      const [nextX, nextY] = corners[(i + 1) % corners.length];
      return sum + x * nextY - nextX * y;
    }, 0);
  for (const symbol of symbols.filter((name) => !name.startsWith("circle"))) {
    const parts = marksAt(symbol, 10, [[50, 50], [80, 20]]).split("Z").slice(0, -1); // prettier-ignore
    const corners = parts.map((part) => part.slice(1).split("L").map((one) => one.split(",").map(Number))); // prettier-ignore
    assert.ok(corners.length >= 2, symbol);
    assert.equal(new Set(corners.map((one) => Math.sign(area(one)))).size, 1, `${symbol} turns both ways`);
    const places = corners.map((one) => (one.every(([x, y]) => Math.hypot(x - 50, y - 50) <= 8) ? 0 : 1));
    assert.deepEqual(places, [...places].sort(), symbol);
    assert.ok(corners.slice(places.indexOf(1)).flat().every(([x, y]) => Math.hypot(x - 80, y - 20) <= 8), symbol); // prettier-ignore
  }
  assert.equal(marksAt("circle-open", 10, [[1, 2], [3, 4]]).split("M").length, 3); // prettier-ignore
});
