// What stands below a pair's drawing comes by a component of its own, which shows nothing, once the drawing is on screen.

import { VIEWS } from "./view.js";

const hearers = new Set();
let latest = null;

// Calls `hear` with what has come and with all that will come, until `signal` ends it.
export function hearBelow(hear, signal) {
  hearers.add(hear);
  signal.addEventListener("abort", () => hearers.delete(hear));
  if (latest) hear(latest);
}

VIEWS.below = /** @type {any} */ (
  class {
    start() {}

    update(data) {
      latest = data;
      for (const hear of hearers) hear(data);
    }

    end() {}
  }
);
