// One filter's weights: a row for each place of its window, a column for each number that stands for a word.

import { legend } from "./colours.js";
import { DIVERGING } from "./constants.js";
import { fill, heading, html, signed, svg } from "./elements.js";
import { saveButtons } from "./save.js";
import { Tip } from "./tip.js";
import { VIEWS, View } from "./view.js";

const STEPS = 24; // of a colour, from clear at zero

/** @extends {View<import("./payloads").Drawn["filterWeights"] & { about: import("./payloads").About }>} */
class FilterWeightsView extends View {
  build() {
    this.grid = svg("svg.weights", { role: "img", tabindex: 0 });
    this.tip = new Tip();
    const { top, reading, filter } = this.data;
    this.grid.setAttribute("aria-label", `Weights of filter ${filter}. ${reading}`);
    const more =
      "Orange is above zero, blue below it; the paler, the nearer to zero. The scale runs to the filter’s largest weight. Point at a cell for its value.";
    const saves = saveButtons(this, "filter", () => ({
      file: `filter-${filter}`,
      title: `Weights of filter ${filter}`,
      elements: [this.grid, scale],
    }));
    const tint = (share) =>
      `color-mix(in srgb, ${DIVERGING[share < 0 ? 0 : 1]} ${100 * Math.abs(share)}%, var(--paper))`;
    const shares = Array.from({ length: 11 }, (_, i) => (i - 5) / 5);
    const scale = legend("weight", signed(-top, 2), signed(top, 2), shares.map(tint));
    this.grid.addEventListener("pointermove", (event) => this.point(event));
    this.grid.addEventListener("click", (event) => this.point(event));
    this.grid.addEventListener("pointerleave", () => this.tip.hide());
    return html(
      "section",
      { "aria-label": `Weights of filter ${filter}` },
      heading("", reading, more, saves),
      this.grid,
      scale,
      this.tip.element,
    );
  }

  arrange(width) {
    const { rows, values } = this.data;
    const type = this.type;
    this.left = 58 * type;
    this.cell = [(width - this.left - 2) / values[0].length, 30 * type];
    const height = rows.length * this.cell[1];
    fill(this.grid, { width, height: height + 22 * type }, []);
    this.size = [width, height + 22 * type];
    const words = { "font-size": 12 * type, fill: "var(--soft)" };
    const every = Math.ceil(values[0].length / 8 / 10) * 10 || 10;
    const numbers = values[0].map((_, j) => j + 1).filter((number) => number === 1 || number % every === 0);
    this.grid.replaceChildren(
      ...rows.map((name, i) => svg("text", { x: 0, y: (i + 0.5) * this.cell[1] + 4 * type, ...words }, name)),
      ...this.cells(),
      ...numbers.map((number) =>
        svg(
          "text",
          { x: this.left + (number - 0.5) * this.cell[0], y: height + 15 * type, "text-anchor": "middle", ...words },
          number,
        ),
      ),
    );
  }

  // All cells of a colour are one shape.
  cells() {
    const { values, top } = this.data;
    const [wide, high] = this.cell;
    const cells = values.flatMap((row, i) =>
      row.map((value, j) => ({ i, j, step: Math.round((value / top) * STEPS) })),
    );
    const square = ({ i, j }) =>
      `M${(this.left + j * wide).toFixed(2)} ${i * high + 1}h${wide.toFixed(2)}v${high - 2}h${(-wide).toFixed(2)}z`;
    return Array.from(
      Map.groupBy(
        cells.filter(({ step }) => step),
        ({ step }) => step,
      ),
      ([step, all]) =>
        svg("path", {
          fill: DIVERGING[step > 0 ? 1 : 0],
          "fill-opacity": Math.abs(step) / STEPS,
          d: all.map(square).join(""),
          "shape-rendering": "crispEdges",
        }),
    );
  }

  point(event) {
    const box = this.grid.getBoundingClientRect();
    const [i, j] = [
      Math.floor((event.clientY - box.top) / this.cell[1]),
      Math.floor((event.clientX - box.left - this.left) / this.cell[0]),
    ];
    const value = this.data.values[i]?.[j];
    if (value === undefined) this.tip.hide();
    else this.tip.show(event, html("b", `${this.data.rows[i]}, dimension ${j + 1}`), html("span", signed(value, 4)));
  }
}

VIEWS.filterWeights = (root) => new FilterWeightsView(root);
