// Small multiples of all attention heads, one row per layer (Vig 2019, BertViz's model view), showing only attention
// between the two texts. The user selects one of them, their mean or the rollout, and its matrix is shown.

import { scaleColour, scaleEnd } from "../../components/colours.js";
import { html } from "../../components/create.js";
import { choice, gridStep, heading, reach, refill } from "../../components/elements.js";
import { percent, the } from "../../components/wording.js";
import { PANELS } from "../../components/view.js";

const MEAN = "mean";
const ROLLOUT = "rollout";
const BLOCKS = 8; // rows and columns of a picture, as in core/evidence/attention_heads.py
const WHOLE = [
  [MEAN, "Mean of all"],
  [ROLLOUT, "Rollout"],
];
const [LEAST, MOST] = [12, 40]; // pixels of a picture's side
const [NAMES, AROUND] = [30, 8]; // pixels for a layer's number, and around a picture
const HOW =
  "One row per layer, one picture per head: its matrix reduced to a few blocks, each picture on its own scale. Bar: the share of attention that goes to the other sentence.";
const MORE =
  "Rows of a picture are the attending words, columns the attended ones, both in text order; each picture’s scale runs to its own largest block, and at least to twice the mean of its blocks, so that only the pattern can be compared. The bar below can be compared between heads: its full width is all of a word’s attention, and the filled part is the mean share that goes to the other sentence; the rest stays in the same sentence or goes to special tokens. Mean: the mean of all layers and heads. Rollout: attention multiplied through all layers, where each word keeps half of its state (Abnar and Zuidema 2020). With the keyboard, Tab to the pictures, move with the arrow keys, and choose with Enter. What it cannot tell: the verdict need not depend on a head that attends to the other sentence; “What each link does” tests that.";

class HeadsPanel {
  /**
   * @param {import("../../components/pair.js").PairView} view
   * @param {ReturnType<typeof headsOf>} data
   */
  constructor(view, data) {
    this.view = view;
    this.data = data;
    this.whole = html("span.controls", { role: "group", "aria-label": "Of all heads together" });
    this.state = html("p", { "aria-live": "polite" });
    this.grid = html(
      "div.grid",
      {
        role: "grid",
        "aria-label": "Heads of all layers",
        "aria-rowcount": data.layers,
        "aria-colcount": data.heads,
        onkeydown: (event) => this.key(event),
      },
      this.head(),
      this.rows(),
    );
    this.element = html(
      "section",
      { "aria-label": "Heads" },
      heading(`${data.layers} layers of ${data.heads} heads`, HOW, MORE),
      html("div.controls", this.whole, this.state),
      html("div.scroll", { tabindex: "-1" }, this.grid),
    );
  }

  head() {
    const numbers = Array.from({ length: this.data.heads }, (_, i) => html("span", i + 1));
    return html("div.layer-line.soft.tiny", { "aria-hidden": "true" }, html("span"), numbers);
  }

  rows() {
    const { layers, heads } = this.data;
    this.cells = Array.from({ length: layers }, (_, layer) =>
      Array.from({ length: heads }, (_, number) => this.cell(`${layer + 1}.${number + 1}`)),
    );
    this.buttons = this.cells.flat().map(({ button }) => button);
    return this.cells.map((cells, layer) =>
      html(
        "div.layer-line",
        { role: "row", "aria-rowindex": layer + 1 },
        html("span.layer.soft.tiny", { role: "rowheader", "aria-label": `Layer ${layer + 1}` }, layer + 1),
        cells.map(({ button }) => html("span", { role: "gridcell" }, button)),
      ),
    );
  }

  cell(head) {
    const picture = html("canvas", { width: BLOCKS, height: BLOCKS, "aria-hidden": "true" });
    const bar = html("i");
    const button = html(
      "button.one-head",
      { "data-head": head, tabindex: -1, onclick: () => this.choose(head) },
      picture,
      html("span.across", bar),
    );
    return { head, picture, bar, button };
  }

  choose(head) {
    this.view.ask({ head: head === this.data.own ? "" : head });
  }

  // As large as the room for one layer's heads allows.
  fit() {
    const room = this.element.clientWidth / this.view.type;
    const cell = Math.floor((room - NAMES) / this.data.heads) - AROUND;
    this.grid.style.setProperty("--cell", `${Math.max(LEAST, Math.min(MOST, cell))}px`);
  }

  // The heads in the current direction.
  get looking() {
    const { looking } = this.data;
    return looking.find(({ role }) => role === this.view.direction) ?? looking[0];
  }

  draw() {
    const { looking, data } = this;
    const { chosen } = this;
    refill(
      this.whole,
      [...WHOLE, ...(data.measured ? [[data.measured, "Nearest to people"]] : [])].map(([head, text]) => {
        const button = choice(head === chosen, () => this.choose(head), text);
        button.dataset.head = head;
        return button;
      }),
    );
    refill(
      this.state,
      "Shown: ",
      html("b", data.title),
      chosen === data.measured ? `, ${data.about}` : null,
      !data.measured && chosen === MEAN ? html("span.soft", ", since no head was compared with people") : null,
    );
    if (this.drawn === looking.role) return;
    this.drawn = looking.role;
    this.paint(looking);
    const pressed = this.buttons.find((button) => button.dataset.head === chosen);
    for (const button of this.buttons) button.setAttribute("aria-pressed", String(button === pressed));
    reach(this.buttons, pressed ?? this.buttons[0]);
  }

  // The head whose matrix is drawn.
  get chosen() {
    return this.data.head;
  }

  paint({ role, other, across, shades }) {
    const { heads } = this.data;
    const bytes = atob(shades);
    const size = BLOCKS * BLOCKS;
    this.cells.forEach((cells, layer) =>
      cells.forEach(({ picture, bar, button }, number) => {
        const start = (layer * heads + number) * size;
        const shown = Array.from({ length: size }, (_, place) => bytes.charCodeAt(start + place));
        const end = scaleEnd(shown);
        const context = picture.getContext("2d");
        shown.forEach((value, place) => {
          context.fillStyle = scaleColour(value / end);
          context.fillRect(place % BLOCKS, Math.floor(place / BLOCKS), 1, 1);
        });
        const share = across[layer][number];
        bar.style.width = `${100 * share}%`;
        const what = `Layer ${layer + 1}, head ${number + 1}: a word of ${the(role)} gives ${percent(share)} to ${the(other)}`;
        button.setAttribute("aria-label", what);
        button.title = what;
      }),
    );
  }

  key(event) {
    const at = event.target.dataset?.head?.split(".").map((number) => Number(number) - 1);
    if (!at) return;
    const { layers, heads } = this.data;
    const next = gridStep(event, at, [layers - 1, heads - 1]);
    if (!next) return;
    const [row, column] = next;
    const { button } = this.cells[row][column];
    reach(this.buttons, button);
    button.focus();
  }
}

const decimals = (share) => share.toFixed(2).replace(/^0/, "");

/**
 * A record of heads with its matrices by direction, second text first, and the page's titles: `title` of the shown head,
 * `own` of the head that the model's card names.
 * @param {import("../../components/payloads").AttentionHeads} record
 * @param {Pick<import("../../components/evidence.js").Page, "head">} page
 */
export function headsOf(record, { head: { title, own } }) {
  const { first, second, head, across, thumbnails, measured = "", f1 } = record;
  return {
    head,
    measured,
    title,
    own,
    layers: across[0].length,
    heads: across[0][0].length,
    about: measured ? `F1 ${decimals(f1)} against people’s alignments of words` : "",
    looking: [
      { role: second, other: first, across: across[0], shades: thumbnails[0] },
      { role: first, other: second, across: across[1], shades: thumbnails[1] },
    ],
  };
}

PANELS.attention_heads = {
  place: "details",
  make: (view, record) => new HeadsPanel(view, headsOf(record, view.data)),
};
