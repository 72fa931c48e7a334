// How much each word weighs when its sentence is pooled into one vector: a bar above the word.

class PooledPanel {
  constructor(view, record) {
    Object.assign(this, { view, record });
    this.sides = record.sides.map(({ role, weights }) => {
      const side = view.sideOf(role);
      const words = new WordChips(view, side, {
        describe: (index) => `${side.tokens[index]}: weight ${this.told(weights[index])}`,
        inside: (index) => html("i", { class: "tall" }, html("i", { class: "weight", style: `height:${(100 * weights[index]) / record.high}%;background:${scaleColour(weights[index] / record.high)}` })),
      });
      return { role, weights, words, name: html("span", { class: "role" }, capital(role)) };
    });
    this.stage = html("div", { class: "stage" }, this.sides.map(({ role, words, name }) => html("div", { class: "side", "data-role": role }, name, words.element)));
    const how = "A taller, brighter bar: the word weighs more when its sentence is pooled into one vector.";
    const more = `${record.shares ? "The weights of a sentence add up to 1. " : ""}The scale runs to the largest weight of this pair. Point at a word for its weight; with the keyboard, Tab to a sentence and move with the arrow keys.`;
    const saves = saveButtons(view, "pooling", "pooling", (ink) => {
      const box = this.stage.getBoundingClientRect();
      const [width, height] = [Math.max(Math.ceil(box.width) + 20, 420), Math.ceil(box.height)];
      return [width, height + 54, [drawnWords(view, this.stage), savedLegend(height + 28, this.told(0), this.told(record.high), ink)].flat()];
    });
    this.readout = html("span", { class: "readout", "aria-live": "polite" });
    const key = legend("weight", this.told(0), this.told(record.high));
    key.append(this.readout);
    const long = this.sides.some(({ weights }) => weights.length > LONG);
    this.element = html("section", { class: long ? "long" : null, "aria-label": this.title }, heading(this.title, how, more, saves), html("div", { class: "frame", tabindex: "-1" }, this.stage), key);
  }

  get title() {
    return `How much each word weighs in the ${this.record.name}`;
  }

  told(weight) {
    return this.record.shares ? percent(weight) : String(Number(weight.toPrecision(3)));
  }

  draw() {
    const told = this.sides.map(({ role, weights, words }) => {
      words.draw();
      const index = this.view.selection[words.axis];
      return index === null ? null : [html("bdi", { class: "selected" }, this.view.sideOf(role).tokens[index]), ` ${this.told(weights[index])} of the ${role}`];
    });
    this.readout.replaceChildren(...told.filter(Boolean).flatMap((words, i) => (i ? [", ", ...words] : words)));
  }
}

PANELS.pooled_attention = (view, record) => new PooledPanel(view, record);
