// A matrix of signed numbers on a diverging scale around zero.

import { differenceLook } from "../../components/colours.js";
import { signed } from "../../components/wording.js";
import { MatrixPanel } from "./matrix.js";

const WRITTEN = 26; // pixels smallest cell with room for a number
const WORTH = 0.05; // share of the largest value from which a cell shows its sign

export const SCALE = Array.from({ length: 11 }, (_, i) => differenceLook(i / 5 - 1).ground);

export class SignedMatrix extends MatrixPanel {
  constructor(view, map) {
    super(view, map);
    this.element.classList.add("attention_map"); // for its style
  }

  look(value) {
    return differenceLook(Math.max(-1, Math.min(1, value / this.attention.high)));
  }

  // A number in the short form used in cells.
  short(value) {
    return signed(value, this.attention.high < 1 ? 2 : 1);
  }

  // The sign or the number of a cell whose effect is not negligible.
  written(value) {
    if (value === null) return "·";
    const { high } = this.attention;
    if (Math.abs(value) < WORTH * high || high < 1e-6) return null;
    return this.cell >= WRITTEN ? this.short(value) : value < 0 ? "\u2212" : "+";
  }

  get digits() {
    return Math.min(13, Math.max(9, this.cell * 0.36)) * (this.view.type > 1 ? 1.3 : 1);
  }
}
