// A matrix with its heading, what its colours mean, and buttons that save it.

import { legend } from "../../components/colours.js";
import { fill, heading, html, svg } from "../../components/elements.js";
import { saveButtons } from "../../components/save.js";
import { Matrix } from "./matrix.js";

export class MatrixPanel extends Matrix {
  constructor(view, attention) {
    super(view, attention);
    const { title, headed = title, how, more, scale, what, file, buttons = [] } = this.labels;
    this.frame.setAttribute("aria-label", title);
    this.disagree = html("span", { hidden: true }, "ring: much weight, little effect; diamond: the other way round");
    const key = fill(legend(...scale), {}, [this.scrolls, this.disagree]);
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

  // What it is, how to read it (one line, and more on demand), what its colours mean with both ends of their scale, and
  // what is saved under which name. `headed`: the title as it stands above the matrix.
  /** @returns {any} */
  get labels() {
    return {};
  }

  // What cutting each of its links did, where that is known: the cells whose weight and effect disagree are marked.
  /** @returns {any} */
  get cut() {
    return null;
  }

  // In words, of a cell that is marked.
  disagreement(i, j) {
    const among = (cells) => cells?.some((cell) => String(cell) === String([i, j]));
    const said = among(this.cut?.heavy) ? "much weight, little effect" : "little weight, much effect";
    return among(this.cut?.heavy) || among(this.cut?.telling) ? [html("span", said)] : [];
  }

  // Rings and diamonds in the corners of cells.
  signs() {
    const { heavy, telling } = this.cut ?? { heavy: [], telling: [] };
    this.disagree.hidden = !(heavy.length + telling.length);
    const look = { fill: "var(--paper)", stroke: "var(--ink)", "stroke-width": 1.5, "pointer-events": "none" };
    const r = Math.max(2, this.cell / 11);
    const corner = ([i, j]) => [this.x(j) + this.cell - 5, i * this.cell + 5];
    return svg(
      "g.disagreeing",
      heavy.map(corner).map(([cx, cy]) => svg("circle", { cx, cy, r, ...look })),
      telling.map(corner).map(([x, y]) => {
        const side = r + 1;
        return svg("path", { d: `M${x} ${y - side}l${side} ${side}l${-side} ${side}l${-side} ${-side}z`, ...look });
      }),
    );
  }
}
