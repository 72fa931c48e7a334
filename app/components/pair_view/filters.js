// What won the filters: one row a filter, its parts as a strip around zero, its share in every class's logit, and the sums.

const PARTS = ["left", "self", "right", "context", "bias"];
const FIRST_ROWS = 8;

class FilterPanel {
  constructor(view) {
    this.view = view;
    this.record = view.data.filters;
    this.classes = view.data.verdict.classes;
    this.all = this.record.filters.map((f) => ({ index: f[0], position: f[1], window: [f[2], f[3]], parts: f.slice(4, 9), pre: f[9], activation: f[10], shares: f.slice(11) }));
    this.mode = "word";
    this.open = false;
    this.choices = html("div", { class: "choices", role: "group", "aria-label": "Which filters" });
    this.table = html("div", { class: "scroll", tabindex: "-1" });
    const saves = ["SVG", "PNG"].map((kind) => linkButton(kind, `Save the filters as ${kind}`, () => saveFilters(this, kind)));
    const how = `Max-pooling keeps one n-gram a filter. The strip splits its value before the tanh into parts: right of the line raises it, left lowers it.`;
    const more = `left + self + right${this.view.data.attention ? " + attentive context" : ""} + bias add up to the value before the tanh. The tanh of it times the classifier’s weight is the filter’s ` +
      "share in each class’s logit; the shares of all filters and the class’s bias add up to the logit, and the softmax of the logits is the verdict. " +
      "A filter pushes towards the class whose share stands highest above the mean of its shares.";
    this.element = html("section", { class: "filters", "aria-label": "What won the filters" }, heading("What won the filters", how, more, saves), this.choices, this.table);
  }

  push(filter) {
    const mean = filter.shares.reduce((a, b) => a + b, 0) / filter.shares.length;
    return filter.shares.map((share) => share - mean);
  }

  // The filters of the chosen list, strongest first.
  listed() {
    const { row } = this.view.selection;
    if (this.mode === "word" && row !== null) {
      return this.all.filter((f) => f.position === row).sort((a, b) => Math.max(...this.push(b)) - Math.max(...this.push(a)));
    }
    const c = this.mode === "word" ? this.classes.findIndex((k) => k.label === this.view.data.verdict.label) : Number(this.mode);
    return [...this.all].sort((a, b) => this.push(b)[c] - this.push(a)[c]);
  }

  drawChoices(hasWord) {
    const { row } = this.view.selection;
    const word = hasWord ? this.view.side("row").tokens[row] : null;
    const count = hasWord ? this.all.filter((f) => f.position === row).length : 0;
    const choice = (mode, ...label) => html("button", { type: "button", "aria-pressed": String(this.mode === mode), class: "choice",
      onclick: () => { this.mode = mode; this.open = false; this.draw(); } }, ...label);
    this.choices.replaceChildren(...[
      hasWord ? choice("word", "Won by ", html("bdi", { class: "selected" }, word), ` (${count})`) : null,
      ...this.classes.map((k, i) => choice(String(i), "Strongest towards ", this.swatch(k), k.label)),
    ].filter(Boolean));
  }

  swatch(k) {
    return html("i", { class: "swatch", style: `background:light-dark(${k.light},${k.dark})` });
  }

  draw() {
    const hasWord = this.view.selection.row !== null;
    if (!hasWord && this.mode === "word") this.mode = String(this.classes.findIndex((k) => k.label === this.view.data.verdict.label));
    else if (hasWord && this.lastRow !== this.view.selection.row) this.mode = "word";
    this.lastRow = this.view.selection.row;
    this.drawChoices(hasWord);
    const listed = this.listed();
    const shown = this.open ? listed : listed.slice(0, FIRST_ROWS);
    this.shown = shown;
    if (!listed.length) {
      this.table.replaceChildren(html("p", { class: "empty" }, "No filter’s winning n-gram is centred on this word: select another word, or look at the strongest filters."));
      return;
    }
    const head = html("tr", {}, ["filter", "winning n-gram", this.view.data.attention ? "with context" : null, "parts", "sum", "tanh"].filter(Boolean).map((t) => html("th", { scope: "col", class: ["sum", "tanh"].includes(t) ? "number" : t === "with context" ? "roomy" : null }, t)),
      this.classes.map((k) => html("th", { scope: "col", class: "number" }, this.swatch(k), k.label)));
    const scale = this.scale(shown);
    const body = html("tbody", {}, shown.map((f) => this.line(f, scale)));
    const foot = html("tfoot", {}, this.sums(listed));
    this.table.replaceChildren(html("table", {}, html("thead", {}, head), body, foot), this.partsLegend(), listed.length > FIRST_ROWS
      ? linkButton(this.open ? `Show the first ${FIRST_ROWS}` : `Show all ${listed.length}`, "Show more or fewer filters", () => { this.open = !this.open; this.draw(); }) : document.createTextNode(""));
  }

  scale(filters) {
    const reach = filters.flatMap((f) => [1, -1].map((sign) => f.parts.reduce((sum, p) => sum + Math.max(0, sign * p), 0)));
    return Math.max(...reach, 1e-6);
  }

  ngram(f) {
    const words = this.view.side("row")?.tokens || this.view.judged.tokens;
    return words.slice(...f.window).map((word, i) => ({ word, centre: f.window[0] + i === f.position }));
  }

  contextWords(f) {
    const { attention } = this.view.data;
    if (!attention) return [];
    const row = attention.weights[f.position];
    const order = row.map((_, j) => j).sort((a, b) => row[b] - row[a]).slice(0, 2);
    return order.map((j) => this.view.side("column").tokens[j]);
  }

  line(f, scale) {
    const best = f.shares.indexOf(Math.max(...f.shares));
    const words = this.ngram(f).flatMap(({ word, centre }, i) => [i ? " " : "", centre ? html("b", {}, word) : word]);
    const context = this.contextWords(f);
    return html("tr", { class: f.position === this.view.selection.row && this.mode !== "word" ? "on" : null },
      html("td", {}, String(f.index)),
      html("td", { class: "ngram" }, html("button", { type: "button", dir: "auto", onclick: () => this.view.data.attention && this.view.select({ row: f.position }) }, words)),
      this.view.data.attention ? html("td", { dir: "auto", class: "roomy" }, context.join(", ")) : null,
      html("td", {}, this.strip(f, scale)),
      html("td", { class: "number", title: String(f.pre) }, signed(f.pre)), html("td", { class: "number", title: String(f.activation) }, signed(f.activation)),
      f.shares.map((share, i) => html("td", { class: `number${i === best ? " best" : ""}`, title: String(share) }, signed(share))));
  }

  // Parts right of the middle line raise the value, parts left of it lower it.
  strip(f, scale, width = 190) {
    const middle = width / 2;
    const unit = (middle - 2) / scale;
    const ends = { right: middle, left: middle };
    const order = PARTS.map((name, i) => [name, f.parts[i]]).filter(([, value]) => value !== 0);
    const text = PARTS.map((name, i) => `${name} ${signed(f.parts[i])}`).join(", ");
    const pieces = order.map(([name, value]) => {
      const size = Math.abs(value) * unit;
      const x = value > 0 ? ends.right : ends.left - size;
      if (value > 0) ends.right += size; else ends.left -= size;
      return svg("rect", { class: `part-${name}`, x: x.toFixed(2), y: 3, width: Math.max(0.5, size - 0.6).toFixed(2), height: 10 }, svg("title", {}, `${name} ${signed(value, 4)}`));
    });
    const at = middle + f.pre * unit;
    return svg("svg", { class: "strip", width, height: 16, role: "img", "aria-label": text }, pieces,
      svg("line", { class: "zero", x1: middle, x2: middle, y1: 0, y2: 16 }), svg("line", { class: "total", x1: at, x2: at, y1: 1, y2: 15 }));
  }

  partsLegend() {
    const names = { left: "left neighbour", self: "the word itself", right: "right neighbour", context: "attentive context", bias: "bias" };
    const here = this.view.data.attention ? PARTS : PARTS.filter((name) => name !== "context");
    return html("div", { class: "legend parts" }, here.map((name) => html("span", {}, svg("svg", { width: 12, height: 10 }, svg("rect", { class: `part-${name}`, width: 11, height: 9, x: 0.5, y: 0.5 })), names[name])),
      html("span", {}, svg("svg", { width: 8, height: 12 }, svg("line", { class: "total", x1: 4, x2: 4, y1: 0, y2: 12 })), "their sum"));
  }

  // Rows that show the shares adding up to the logits.
  sums(listed) {
    const total = (filters, c) => filters.reduce((sum, f) => sum + f.shares[c], 0);
    const across = this.view.data.attention ? 6 : 5;
    const rest = this.all.length - listed.length;
    const line = (label, values, kind) => html("tr", { class: kind || null }, html("th", { scope: "row", colspan: across }, label), values.map((v) => html("td", { class: "number", title: String(v) }, signed(v))));
    const each = (of) => this.classes.map((_, c) => of(c));
    const some = rest > 0;
    return [
      some ? line(`${plural(listed.length, "filter", "filters")} of this list`, each((c) => total(listed, c))) : null,
      some ? line(`the other ${rest}`, each((c) => total(this.all, c) - total(listed, c))) : line(`all ${this.all.length} filters`, each((c) => total(this.all, c))),
      line("the classifier’s bias", this.record.bias),
      line("= logit", this.record.logits, "logit"),
    ];
  }
}
