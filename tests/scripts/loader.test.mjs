// The drawing component, whose scripts can only be fetched at the third attempt (SCRIPTS in tests/app/test_scripts.py).

import assert from "node:assert/strict";
import { test } from "node:test";

globalThis.location = { origin: "http://localhost:8501" };
const { default: draw } = await import("../../app/components/loader.js");

test("scripts are fetched again until they are there, once for all drawings", async (context) => {
  const pauses = [];
  context.mock.method(globalThis, "setTimeout", (next, pause) => {
    pauses.push(pause);
    next();
  });
  assert.deepEqual(await Promise.all([draw("left"), draw("right")]), ["left at 3", "right at 3"]);
  assert.deepEqual(pauses, [1000, 1000]);
});
