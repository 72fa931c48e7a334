// A generated filter's weights as a strip of cells per position of its window.

import { differenceLook } from "./colours.js";
import { html, svg } from "./create.js";
import { heading, refill } from "./elements.js";
import { signed } from "./wording.js";
import { saveButtons } from "./save.js";
import { Tip } from "./tip.js";
import { VIEWS, View } from "./view.js";

const ROW = 28; // pixels at normal type size
const EDGE = { left: 64, right: 12, below: 20 }; // pixels for the rows' and the dimensions' names, at normal type size
const SHADES = 50; // of each colour, so that equal cells are one shape
const TICK = 50; // dimensions

class FilterWeightsView extends View {
  tip = new Tip();
  row = 0; // sizes of a cell in pixels
  cell = 0;
  edge = 0;

  build() {
    const { title, size, places, weights } = this.data;
    const how = `${size}; orange: above 0, blue: below 0.`;
    this.plot = svg("svg", {
      role: "img",
      "aria-label": `${title}: ${size}`,
      onpointermove: (event) => this.name(event),
      onpointerleave: () => this.tip.hide(),
    });
    this.most = Math.max(...weights.flat().map(Math.abs)) || 1;
    this.shades = Map.groupBy(
      weights.flatMap((row, i) => row.map((weight, j) => [i, j, weight])),
      ([, , weight]) => Math.round((SHADES * weight) / this.most),
    );
    this.figure = html("div", this.plot);
    this.places = places;
    const saves = saveButtons(this, "filter", () => ({ file: "filter", title, elements: [this.plot] }));
    return [heading(title, how, "", saves), this.figure, this.tip.element];
  }

  arrange() {
    this.draw();
  }

  draw() {
    const width = this.figure.clientWidth;
    if (!width) return;
    const [row, edge, below] = [ROW, EDGE.left, EDGE.below].map((pixels) => pixels * this.type);
    const dimensions = this.data.weights[0].length;
    const cell = (width - edge - EDGE.right) / dimensions;
    Object.assign(this, { row, edge, cell });
    const height = row * this.places.length;
    this.plot.setAttribute("width", String(width));
    this.plot.setAttribute("height", String(height + below));
    const shape = ([i, j]) =>
      `M${(edge + j * cell).toFixed(2)} ${i * row}h${cell.toFixed(2)}v${row - 1}h${-cell.toFixed(2)}z`;
    const cells = Array.from(this.shades, ([step, same]) =>
      svg("path", { fill: differenceLook(step / SHADES).ground, d: same.map(shape).join("") }),
    );
    const rows = this.places.map((place, i) => svg("text.place", { x: edge - 8, y: (i + 0.5) * row }, place));
    const ticks = Array.from({ length: Math.floor(dimensions / TICK) }, (_, i) => (i + 1) * TICK);
    const columns = ticks.map((tick) =>
      svg("text.tick", { x: edge + (tick - 0.5) * cell, y: height + below / 2 }, tick),
    );
    refill(this.plot, cells, rows, columns);
  }

  name(event) {
    const box = this.plot.getBoundingClientRect();
    const i = Math.floor((event.clientY - box.top) / this.row);
    const j = Math.floor((event.clientX - box.left - this.edge) / this.cell);
    const weight = this.data.weights[i]?.[j];
    if (weight === undefined) return this.tip.hide();
    this.tip.show(event, html("span", `${this.places[i]}, dimension ${j + 1}: ${signed(weight, 4)}`));
  }
}

VIEWS.filterWeights = (root) => new FilterWeightsView(root);
