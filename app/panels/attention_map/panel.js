// A matrix with its heading, its legend, and its save buttons.

import { legend } from "../../components/colours.js";
import { fill, heading, html } from "../../components/elements.js";
import { saveButtons } from "../../components/save.js";
import { Matrix } from "./matrix.js";

export class MatrixPanel extends Matrix {
  constructor(view, attention) {
    super(view, attention);
    const { title, headed = title, how, more, scale, what, file, buttons = [] } = this.labels;
    this.frame.setAttribute("aria-label", title);
    const key = fill(legend(...scale), {}, [this.scrolls]);
    const saves = saveButtons(view, what, () => ({ file, title, elements: [this.frame, key] }));
    this.element = html(
      "section.attention",
      { "aria-label": title },
      heading(headed, how, more, [buttons, saves]),
      this.frame,
      key,
      this.tip.element,
    );
  }

  // Its title, how to read it (one line, and more on demand), the legend with both ends of the scale, and what is saved
  // under which name. `headed`: the title above the matrix.
  /** @returns {any} */
  get labels() {
    return {};
  }
}
