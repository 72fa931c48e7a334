// The end of Details: the quantity in the matrix, and figures as files.

import { html } from "./create.js";
import { chooser, linkButton, refill } from "./elements.js";
import { capital } from "./wording.js";
import { saveFigure } from "./save.js";

const USUAL = "weight"; // the default quantity of a matrix

export class Tools {
  constructor(view, door) {
    this.view = view;
    this.door = door;
    const named = Object.entries(view.data.why?.shows ?? {});
    this.shows = chooser(named, "", (show) => view.ask({ show: show === USUAL ? "" : show }));
    this.figure = html("select");
    const save = (kind) =>
      linkButton(kind, `Save the figure as ${kind}`, () =>
        saveFigure(view, kind, this.marks[this.figure.value].figure),
      );
    this.element = html(
      "section.panel.tools.screen",
      { "aria-label": "Matrix and figures" },
      named.length > 1 && html("div.controls", html("label.soft", "Matrix shows ", this.shows)),
      html("div.controls", html("label.soft", "Save a figure ", this.figure), save("SVG"), save("PNG")),
    );
    door.append(this.element);
  }

  // The figures currently on the page.
  get marks() {
    const marks = [...this.view.root.querySelectorAll("[data-figure]")];
    return marks.filter((mark) => mark.closest("section").getClientRects().length > 0);
  }

  draw() {
    this.shows.value = this.view.asked.show || USUAL;
    const chosen = this.figure.selectedOptions[0]?.text;
    const names = this.marks.map(({ dataset }) => capital(dataset.figure));
    const options = names.map((name, value) => html("option", { value, selected: name === chosen }, name));
    refill(this.figure, options);
  }
}
