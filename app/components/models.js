// All models in one table: a column's name sorts by it, a model's name opens its card.

import { html, refill } from "./elements.js";
import { VIEWS, View } from "./view.js";

const MODEL_COLUMNS = [
  ["title", "Model"],
  ["task", "Task"],
  ["data", "Trained on"],
  ["score", "Measured"],
  ["paper", "In the paper"],
  ["size", "Parameters"],
  ["time", "Explains in"],
];
const ARROWS = { ascending: "↑", descending: "↓", none: "↕" };
const NUMBERS = ["score", "paper", "size", "time"]; // largest first at the first click, but for times

/** @extends {View<import("./payloads").Drawn["models"] & { sort: string | null }>} */
class ModelTable extends View {
  static narrow = 860;

  take({ sort }) {
    this.sort = sort || null;
  }

  build() {
    this.head = html("tr");
    this.body = html("tbody");
    const caption = html("caption", `All ${this.data.models.length} models`);
    return html("table.models.ruled", caption, html("thead.small", this.head), this.body);
  }

  // What a click on a column's name sorts by: it turns round what is sorted by it.
  next(column) {
    const first = NUMBERS.includes(column) && column !== "time" ? `-${column}` : column;
    if (this.sort === first) return first.startsWith("-") ? column : `-${column}`;
    return first;
  }

  sortBy(sort) {
    this.sort = sort;
    this.draw();
    this.send({ sort, open: null });
  }

  sorted() {
    if (!this.sort) return this.data.models;
    const [column, sign] = this.sort.startsWith("-") ? [this.sort.slice(1), -1] : [this.sort, 1];
    const of = (model) => model.cells[column].by;
    const compare = (a, b) => (a < b ? -1 : a > b ? 1 : 0);
    // What is not known is last either way.
    return [...this.data.models].sort(
      (a, b) => Number(of(a) === null) - Number(of(b) === null) || (of(a) === null ? 0 : sign * compare(of(a), of(b))),
    );
  }

  draw() {
    const head = ([column, name]) => {
      const order = this.sort === column ? "ascending" : this.sort === `-${column}` ? "descending" : "none";
      const arrow = html("span.arrow.screen", { "aria-hidden": "true" }, ARROWS[order]);
      const sort = () => this.sortBy(this.next(column));
      return html(
        "th",
        { scope: "col", class: NUMBERS.includes(column) && "number", "aria-sort": order },
        html("button", { "data-sort": column, onclick: sort }, name, arrow),
      );
    };
    refill(this.head, MODEL_COLUMNS.map(head));
    refill(
      this.body,
      this.sorted().map((model) =>
        html(
          "tr",
          MODEL_COLUMNS.map(([column, name]) => this.cell(model, column, name)),
        ),
      ),
    );
  }

  cell({ name, cells }, column, heading) {
    const { text, note } = cells[column];
    if (column !== "title") {
      const about = { class: NUMBERS.includes(column) && "number", "data-of": heading };
      return html("td", about, text, note && html("small.tiny", note));
    }
    const open = () => this.send({ sort: this.sort, open: name });
    return html("th", { scope: "row" }, html("button.open", { "data-model": name, onclick: open }, text));
  }
}

VIEWS.models = (root) => new ModelTable(root);
