import assert from "node:assert/strict";
import { test } from "node:test";
import { once } from "../../app/components/motion.js";

test("of too many ways each source takes one, and the targets take turns", () => {
  const all = ["a", "b", "c"].flatMap((from) => ["x", "y"].map((to) => [from, to]));
  assert.deepEqual(once([...all, ["d", "z"]]), [
    ["a", "x"],
    ["b", "y"],
    ["c", "x"],
    ["d", "z"],
  ]);
});
