// A matrix of signed numbers on a diverging scale around zero.

import { differenceLook } from "../../components/colours.js";
import { signed, svg } from "../../components/elements.js";
import { MatrixPanel } from "./panel.js";

const WRITTEN = 26; // pixels of a cell that has room for a number
const WORTH = 0.05; // of the largest value, from which a cell says its sign

export const SCALE = Array.from({ length: 11 }, (_, i) => differenceLook(i / 5 - 1).ground);

export class SignedMatrix extends MatrixPanel {
  constructor(view, map) {
    super(view, map);
    this.element.classList.add("attention_map"); // whose style it has
  }

  look(value) {
    return differenceLook(Math.max(-1, Math.min(1, value / this.attention.high)));
  }

  colour(value) {
    return this.look(value).ground;
  }

  // A number as it stands in a cell.
  written(value) {
    return signed(value, this.attention.high < 1 ? 2 : 1);
  }

  // Signs and numbers of the cells that do something.
  numbers() {
    const { cell } = this;
    const written = this.rows.flatMap((_, i) =>
      this.places.map((j) => {
        const value = this.number("values", i, j);
        const [x, y] = [this.x(j) + cell / 2, (i + 0.5) * cell];
        if (value === null) return svg("text.uncut", { x, y }, "·");
        if (Math.abs(value) < WORTH * this.attention.high || this.attention.high < 1e-6) return null;
        const text = cell >= WRITTEN ? this.written(value) : value < 0 ? "\u2212" : "+";
        return svg("text", { x, y, style: `fill:${this.look(value).ink}` }, text);
      }),
    );
    const size = Math.min(13, Math.max(9, cell * 0.36)) * (this.view.type > 1 ? 1.3 : 1);
    return svg("g.numbers", { "font-size": size, "aria-hidden": "true" }, written);
  }
}
