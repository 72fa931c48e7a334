// Both sentences as words to click, and the ribbons between them (AttConv, figure 6: wider means more weight).

const RIBBON_WIDTH = 17;

class TextPanel {
  // `ribbons`: weights from words of one role to words of another, with their axes, from the panel that has them.
  constructor(view, ribbons) {
    Object.assign(this, { view, ribbons });
    const { sides } = view.data;
    this.words = sides.map((side) => new WordChips(view, side, { hover: (index) => this.hover(index === null ? null : { [side.axis]: index }) }));
    this.svg = svg("svg", { class: "ribbons", "aria-hidden": "true" });
    this.stage = html("div", { class: `stage${ribbons ? "" : " bare"}` }, this.svg, sides.map((side, i) =>
      html("div", { class: "side", "data-role": side.role }, html("span", { class: "role" }, html("span", {}, capital(side.role))), this.words[i].element)));
    const how = ribbons ? `A ribbon’s width: how much weight a word of the ${ribbons.rows} puts on a word of the ${ribbons.columns}.` : "The words as the model reads them.";
    const words = "Use Tab to reach a sentence and the arrow keys to move along it. A dotted line under a word: the word table does not know it, its vector was made from its letters.";
    const more = ribbons
      ? "With no word selected, ribbons below a share of the weight are left out; select a word and all of its ribbons of at least 1 % are drawn. "
      : "";
    const saves = saveButtons(view, "ribbons", "ribbons", () => {
      const box = this.stage.getBoundingClientRect();
      return [Math.ceil(box.width) + 20, Math.ceil(box.height) + 20, [place(this.svg, 10, 10), drawnWords(view, this.stage)]];
    });
    this.element = html("section", { class: `text${sides.some((side) => side.tokens.length > LONG) ? " long" : ""}`, "aria-label": "Sentences" },
      html("div", { class: "frame", tabindex: "-1" }, this.stage), heading(null, how, more + words, saves));
  }

  hover(focus) {
    this.hovered = focus;
    this.fit();
  }

  // Ribbons of the hovered or selected word; with neither, the strongest of every word.
  paths() {
    if (!this.ribbons) return [];
    const { weights, axes: [from, to] } = this.ribbons;
    const focus = this.hovered || this.view.selection;
    const floor = Math.max(0.08, 1.6 / weights[0].length);
    const out = [];
    weights.forEach((row, i) => row.forEach((weight, j) => {
      const mine = focus[from] === i || ((focus[from] ?? null) === null && focus[to] === j);
      if (mine ? weight >= 0.01 : weight >= floor) out.push({ ends: [`${from}${i}`, `${to}${j}`], weight, mine });
    }));
    return out.sort((a, b) => Number(a.mine) - Number(b.mine) || a.weight - b.weight);
  }

  fit() {
    const box = this.stage.getBoundingClientRect();
    if (!box.width) return;
    this.svg.setAttribute("width", box.width);
    this.svg.setAttribute("height", box.height);
    const ends = new Map();
    this.words.forEach(({ axis, chips }, above) => chips.forEach((chip, i) => {
      const at = chip.getBoundingClientRect();
      ends.set(`${axis}${i}`, [at.left + at.width / 2 - box.left, (above === 0 ? at.bottom : at.top) - box.top]);
    }));
    this.svg.replaceChildren(...this.paths().map(({ ends: names, weight, mine }) => {
      const [[x1, y1], [x2, y2]] = names.map((name) => ends.get(name));
      const bend = (y2 - y1) * 0.5;
      return svg("path", { d: `M${x1},${y1}C${x1},${y1 + bend} ${x2},${y2 - bend} ${x2},${y2}`, class: mine ? "mine" : "other",
        "stroke-width": Math.max(1, weight * RIBBON_WIDTH).toFixed(1), fill: "none" });
    }));
  }

  draw() {
    const { selection } = this.view;
    for (const words of this.words) words.draw();
    this.stage.classList.toggle("focused", selection.row !== null || selection.column !== null);
    this.fit();
  }
}
