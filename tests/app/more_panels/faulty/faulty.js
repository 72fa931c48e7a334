// Panels that fail, each at the moment that its record names.
import { html } from "../../../../app/components/create.js";
import { PANELS } from "../../../../app/components/view.js";

const MOMENTS = ["ready", "prepare", "draw", "fit", "reveal"];

function fail(name) {
  throw new Error(`fails at ${name} <b>`);
}

PANELS.faulty = {
  read: (records) => (records.some(({ at }) => at === "read") ? fail("read") : records),
  make: (view, { at }) => {
    if (at === "make") fail(at);
    const moments = MOMENTS.map((name) => [name, () => name === at && fail(name)]);
    const panel = { element: html("section", "drawn"), ...Object.fromEntries(moments) };
    for (const name of ["ribbons", "direction"])
      Object.defineProperty(panel, name, { get: () => (name === at ? fail(name) : null) });
    return at === "barOf" ? { ...panel, said: () => "", barOf: () => fail(at) } : panel;
  },
};
