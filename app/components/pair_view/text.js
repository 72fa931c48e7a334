// Both sentences as words to click, and the ribbons between them (AttConv, figure 6: wider means more weight).

const RIBBON_WIDTH = 17;

class TextPanel {
  constructor(view) {
    this.view = view;
    const { data } = view;
    this.chips = { row: [], column: [] };
    const blocks = data.sides.map((side) => this.block(side));
    this.svg = svg("svg", { class: "ribbons", "aria-hidden": "true" });
    this.stage = html("div", { class: "stage" }, this.svg, blocks[0], blocks[1]);
    const attention = data.attention;
    const how = attention
      ? `A ribbon’s width: how much weight a word of the ${attention.rows} puts on a word of the ${attention.columns}.`
      : "The words as the model reads them.";
    const more = attention
      ? "With no word selected, ribbons below a share of the weight are left out; select a word and all of its ribbons of at least 1 % are drawn. " +
        "Use Tab to reach a sentence and the arrow keys to move along it. A dotted line under a word: the word table does not know it, its vector was made from its letters."
      : "This model has no attention over words, so there are no ribbons. A dotted line under a word: the word table does not know it.";
    const saves = ["SVG", "PNG"].map((kind) => linkButton(kind, `Save the ribbons as ${kind}`, () => saveText(this, kind)));
    const long = data.sides.some((side) => side.tokens.length > 28);
    this.element = html("section", { class: `text${long ? " long" : ""}`, "aria-label": "Sentences" },
      html("div", { class: "frame", tabindex: "-1" }, this.stage), heading(null, how, more, saves));
  }

  block(side) {
    const axis = side.axis;
    const unknown = new Set(side.unknown);
    const chips = side.tokens.map((token, index) => {
      const chip = html("button", {
        type: "button", class: `chip${unknown.has(index) ? " unknown" : ""}`, tabindex: index ? "-1" : "0", "aria-pressed": "false", dir: "auto",
        title: unknown.has(index) ? "Not in the word table: its vector was made from its letters" : null,
        onclick: () => axis && this.view.select({ [axis]: index }),
        onpointerenter: () => axis && this.hover(axis, index),
        onpointerleave: () => this.hover(null),
      }, token);
      chip.dataset.index = index;
      return chip;
    });
    if (axis) this.chips[axis] = chips;
    const list = html("div", { class: "chips", role: "group", "aria-label": `Words of the ${side.role}`, onkeydown: (event) => this.step(event, axis, chips) },
      chips, side.truncated ? html("span", { class: "cut" }, `… ${plural(side.truncated, "more word was", "more words were")} cut`) : null);
    return html("div", { class: "side", "data-role": side.role }, html("span", { class: "role" }, html("span", {}, capital(side.role))), list);
  }

  step(event, axis, chips) {
    const move = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1, Home: -chips.length, End: chips.length }[event.key];
    if (!move || !axis) return;
    event.preventDefault();
    const here = chips.indexOf(event.target);
    const next = Math.min(chips.length - 1, Math.max(0, here + move));
    chips.forEach((chip, i) => { chip.tabIndex = i === next ? 0 : -1; });
    chips[next].focus();
    this.view.select({ [axis]: next }, { soon: true });
  }

  hover(axis, index) {
    this.hovered = axis ? { [axis]: index } : null;
    this.drawRibbons();
  }

  // Ribbons of the hovered or selected word; with neither, the strongest of every word.
  paths() {
    const attention = this.view.data.attention;
    if (!attention) return [];
    const { weights } = attention;
    const focus = this.hovered || this.view.selection;
    const floor = Math.max(0.08, 1.6 / weights[0].length);
    const out = [];
    weights.forEach((row, i) => row.forEach((weight, j) => {
      const mine = focus && (focus.row === i || (focus.row === undefined || focus.row === null) && focus.column === j);
      if (mine ? weight >= 0.01 : weight >= floor) out.push({ row: i, column: j, weight, mine });
    }));
    return out.sort((a, b) => Number(a.mine) - Number(b.mine) || a.weight - b.weight);
  }

  drawRibbons() {
    const box = this.stage.getBoundingClientRect();
    if (!box.width) return;
    this.svg.setAttribute("width", box.width);
    this.svg.setAttribute("height", box.height);
    const columnsAbove = this.view.data.sides[0].axis === "column";
    const place = new Map();
    for (const axis of ["row", "column"]) {
      this.chips[axis].forEach((chip, i) => {
        const chipBox = chip.getBoundingClientRect();
        const above = (axis === "column") === columnsAbove;
        place.set(`${axis}${i}`, [chipBox.left + chipBox.width / 2 - box.left, (above ? chipBox.bottom : chipBox.top) - box.top]);
      });
    }
    this.svg.replaceChildren(...this.paths().map(({ row, column, weight, mine }) => {
      const [x1, y1] = place.get(`column${column}`);
      const [x2, y2] = place.get(`row${row}`);
      const bend = (y2 - y1) * 0.5;
      return svg("path", { d: `M${x1},${y1}C${x1},${y1 + bend} ${x2},${y2 - bend} ${x2},${y2}`, class: mine ? "mine" : "other",
        "stroke-width": Math.max(1, weight * RIBBON_WIDTH).toFixed(1), fill: "none" });
    }));
  }

  draw() {
    const { selection } = this.view;
    for (const axis of ["row", "column"]) {
      this.chips[axis].forEach((chip, i) => {
        const on = selection[axis] === i;
        chip.setAttribute("aria-pressed", String(on));
        if (on) this.chips[axis].forEach((other) => { other.tabIndex = other === chip ? 0 : -1; });
      });
    }
    this.stage.classList.toggle("focused", selection.row !== null || selection.column !== null);
    this.drawRibbons();
  }
}
