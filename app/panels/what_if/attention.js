// Attention changed by hand: the weight of the selected cell, the column of the selected word, or a whole map.

import { html, refill, the } from "../../components/elements.js";
import { CellGestures } from "./gestures.js";

const PAUSE = 500; // milliseconds after which a slider that was moved is let go
const SEEDS = 10_000;
const BOOST = 2;
const RULES = [
  ["renormalised", "is scaled, so that its sum stays"],
  ["kept", "stays as it is"],
];

// A share from what a person typed as a percentage; nothing where that is none.
const shareOf = (text) => {
  const typed = text.replace("%", "").replace(",", ".").trim();
  const value = typed === "" ? NaN : Number(typed);
  return value >= 0 && value <= 100 ? value / 100 : null;
};

// A weight as a person would type it.
const typedAs = (weight) => `${Number((100 * weight).toPrecision(4))}\u00a0%`;

export class AttentionEditor {
  /** @param {any} panel of what if, which makes changes and has `maps` in its data */
  constructor(panel) {
    this.panel = panel;
    this.view = panel.view;
    this.maps = panel.data.maps;
    this.element = html("div.weights-by-hand");
    this.whole = html("div.whole.wraps.screen", { role: "group", "aria-label": "Change all of the attention" });
    this.timer = 0;
    this.gestures = null;
  }

  // The map whose words are looked at, where there are several.
  get map() {
    return this.maps.find(({ rows }) => rows === this.view.direction) ?? this.maps[0];
  }

  matrixOf({ rows, columns }) {
    return this.view.panels.find(
      (panel) => panel.ribbons && panel.attention?.rows === rows && panel.attention.columns === columns,
    );
  }

  // What becomes of the rest of a row. It is the same in the panel that comes after a change.
  get rest() {
    return this.view.restOfRow ?? RULES[0][0];
  }

  draw() {
    if (!this.maps.length) return;
    const { map } = this;
    this.gestures ??= this.maps.map((one) => this.listenTo(one)).filter(Boolean);
    const matrix = this.matrixOf(map);
    const [row, selected] = matrix?.selected ?? [null, null];
    const column = selected ?? (matrix?.onNone ? matrix.count - 1 : null);
    const key = [map.number, row, column].join();
    if (key !== this.drawn) {
      this.drawn = key;
      this.slider = null;
      const lines = column === null ? [] : this.ofTheColumn(map, matrix, row, column);
      refill(this.element, matrix && (lines.length ? lines : html("p.soft", "Click a cell to change its weight.")));
    }
    const sources = this.view.news?.sources ?? [];
    const known = [map.number, sources.length].join();
    if (known !== this.known) {
      this.known = known;
      refill(this.whole, this.ofTheMap(map, sources));
    }
  }

  listenTo(map) {
    const matrix = this.matrixOf(map);
    if (!matrix) return null;
    return new CellGestures(matrix, {
      moved: (at, weight) => this.show(at, weight),
      released: (at, weight, byKey) => {
        this.setCell(map, at, weight, byKey ? { cell: at, map } : null, matrix.part(at));
      },
    });
  }

  // Ask for it once nothing is on its way any more.
  make(regain, text, stays = this.view.selection) {
    clearTimeout(this.timer);
    if (this.view.editing) this.timer = setTimeout(() => this.make(regain, text, stays), PAUSE);
    else this.panel.make(regain, text, stays, this.panel.open);
  }

  // `regain`: where the keyboard is then.
  setCell(map, [i, j], weight, regain, stays = this.view.selection) {
    this.make(regain, `cell ${map.number} ${i} ${j} ${Number(weight.toFixed(4))} ${this.rest}`, stays);
  }

  // Where the gestures in the matrix are by now.
  show(at, weight) {
    if (!this.slider || String(this.at) !== String(at)) return;
    this.slider.value = String(100 * weight);
    this.input.value = typedAs(weight);
  }

  ofTheColumn(map, matrix, row, column) {
    const word = `“${matrix.word(column)}”`;
    const change = (name, by, text, label) =>
      this.panel.button(text, label, () => this.make(name, `column ${map.number} ${column} ${by} ${this.rest}`), {
        name,
      });
    return [
      row === null ? null : this.ofTheCell(map, matrix, [row, column]),
      html(
        "div.wraps.of-a-column",
        change("mute", 0, `Mute ${word}`, `No word looks at ${word}`),
        change("boost", BOOST, `${word} × ${BOOST}`, `All look at ${word} with ${BOOST} times the weight`),
        this.rules(),
        row === null && html("span.soft", "Click a cell to change its weight alone."),
      ),
    ];
  }

  ofTheCell(map, matrix, at) {
    const [from, to] = [matrix.rows[at[0]], matrix.word(at[1])];
    const weight = matrix.number("weights", ...at);
    const label = `Weight with which “${from}” looks at “${to}”, in percent`;
    const set = (name, share) => this.setCell(map, at, share, name);
    this.at = at;
    this.slider = html("input", {
      type: "range",
      min: 0,
      max: 100,
      step: 1,
      "aria-label": label,
      "data-name": "weight",
      oninput: () => {
        clearTimeout(this.timer);
        this.input.value = typedAs(Number(this.slider.value) / 100);
      },
      onchange: () => {
        clearTimeout(this.timer);
        this.timer = setTimeout(() => set("weight", Number(this.slider.value) / 100), PAUSE);
      },
    });
    this.slider.value = String(100 * weight);
    this.input = html("input", {
      type: "text",
      inputmode: "decimal",
      maxlength: 12,
      "aria-label": `${label}, typed`,
      "data-name": "typed-weight",
      value: typedAs(weight),
    });
    const problem = html("span", { role: "alert" });
    const send = (event) => {
      event.preventDefault();
      const share = shareOf(this.input.value);
      refill(problem, share === null && `“${this.input.value}” is no weight: type a number from 0 to 100.`);
      if (share !== null) set("typed-weight", share);
    };
    return html(
      "form.wraps.of-a-cell",
      { onsubmit: send },
      html("span", html("bdi.selected", `“${from}”`), " looks at ", html("bdi.selected", `“${to}”`), " with"),
      this.slider,
      this.input,
      html("button.act", { type: "submit", "aria-label": "Set this weight" }, "Set"),
      problem,
    );
  }

  rules() {
    const select = html(
      "select",
      {
        "aria-label": "The rest of a row",
        onchange: () => {
          this.view.restOfRow = select.value;
        },
      },
      RULES.map(([value, text]) => html("option", { value }, text)),
    );
    select.value = this.rest;
    return html("label.soft", "the rest of a row ", select);
  }

  ofTheMap(map, sources) {
    const edit = (name, text, label, values = () => "") =>
      this.panel.button(text, label, () => this.make(name, `${name} ${map.number}${values()}`), { name });
    const fitting = sources.filter((source) => source.map === map.number);
    const select = html(
      "select",
      {
        "aria-label": "Attention of another model",
        "data-name": "from",
        onchange: () => {
          const { other, model } = fitting[Number(select.value)];
          this.make("from", `from ${map.number} ${other} ${model}`);
        },
      },
      html("option", { value: "" }, "of another model …"),
      fitting.map(({ title }, i) => html("option", { value: i }, title)),
    );
    return [
      html("span.soft", this.maps.length > 1 ? `Where ${the(map.rows)} looks:` : "Attention:"),
      edit("uniform", "Uniform", "Attention uniform: all words with the same weight"),
      edit("diagonal", "Diagonal", "Attention on the diagonal: each word looks at the one at its place"),
      edit("sharper", "Sharper", "Attention sharper: each weight squared, and the row normalised", () => " 2"),
      edit("permuted", "Permuted", "Attention permuted: the weights of each row in another order", () => {
        return ` ${Math.floor(Math.random() * SEEDS)}`;
      }),
      fitting.length ? select : null,
    ];
  }
}
