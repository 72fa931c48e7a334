// A lesson: one step at a time, its formula with and without numbers, and a picture of all values with the step's
// values highlighted. All steps are loaded at the start, so the arrow keys need no response from the server.

import { html, svg } from "./create.js";
import { foundIn, linkButton, refill } from "./elements.js";
import { capital } from "./wording.js";
import { calm, travel } from "./motion.js";
import { drawNotices } from "./shares.js";
import { VIEWS, View } from "./view.js";

const MOST = 8; // numbers of a vector that are shown; the rest are counted
const SETTLED = 750; // milliseconds after which an animation is over: the server's response would make it stutter
const TYPING = "input, textarea, select, [contenteditable]";

// A formula as MathML, which the server generates from the lesson's LaTeX.
const math = (text) => document.importNode(new DOMParser().parseFromString(text, "text/html").body.firstChild, true);

// Whether one name is the other or a part of it: h and h.2.1; * stands for every position.
const related = (a, b) => {
  const places = b.split(".");
  return a.split(".").every((place, i) => i >= places.length || place === "*" || place === places[i]);
};

// How right a vote is about which of several numbers are more than half.
function judgedVote(names, votes, values) {
  const wrong = names.filter((_, i) => votes[i] !== values[i] > 0.5);
  return wrong.length
    ? `Right about ${names.length - wrong.length} of ${names.length}; wrong about ${wrong.join(", ")}.`
    : "All right.";
}

// How many of a value's numbers are on one line: all of a row, but one of a vector with a word for each number.
function numbersPerLine(number, words) {
  if (!Array.isArray(number)) return 1;
  if (Array.isArray(number[0])) return number[0].length;
  return words ? 1 : number.length;
}

/** @extends {View<import("./payloads").Drawn["lesson"] & { step: number }>} */
class LessonView extends View {
  static narrow = 840;

  constructor(root) {
    super(root);
    this.guessing = true;
    this.rest = () => {};
    this.known = new Set(); // steps whose number was shown or guessed
  }

  listen(on) {
    super.listen(on);
    on(window, "keydown", (event) => this.key(event));
    for (const name of ["pointerover", "focusin"])
      on(this.root, name, (event) => this.point(event.target.closest?.("[data-of]")?.getAttribute("data-of") ?? null));
    on(this.root, "pointerleave", () => this.point(null));
  }

  take({ id, step }) {
    if (id !== this.lesson) this.known.clear();
    this.lesson = id;
    this.step = step;
  }

  get now() {
    return this.data.steps[this.step - 1];
  }

  // The numbers that still have to be guessed.
  get secret() {
    return this.guessing && this.now.guess.length && !this.known.has(this.step) ? this.now.guess : null;
  }

  build() {
    const { data } = this;
    // Length of the longest vector over a word, which sets the width of the picture's columns.
    const rows = data.lines.flatMap((line) => line.rows);
    const counts = rows.map(({ of, value }) => numbersPerLine(data.values[value].number, data.words[of]));
    const columns = rows.filter(({ shape }) => shape !== "rows");
    this.widest = Math.max(1, ...counts.filter((_, i) => data.words[rows[i].of] && columns.includes(rows[i])));
    // Words are below the first of the rows that they name, and below the lowest of several in one step.
    const first = (name) => data.steps.findIndex(({ lit }) => lit.some((one) => related(one, name)));
    const byStep = columns.sort((a, b) => first(b.value) - first(a.value));
    this.labelled = new Map(byStep.map(({ of, value }) => [of, value]));
    this.shown = null;
    this.step_ = html("div.step", { "aria-live": "polite" });
    this.picture = html(
      "div.picture.stack",
      { class: Math.max(...counts) > 6 && "dense", role: "group", "aria-label": "All values of the lesson" },
      this.sentences(),
      data.lines.map((line) => this.line(line)),
    );
    this.weights = html(
      "div.given-values.stack",
      data.given.map((line) => this.line(line)),
    );
    return [
      drawNotices(data.notices),
      html("header.lesson-head", html("h2", data.title), html("p.how.soft", data.about)),
      this.controls(),
      html("div.lesson-body.halves", html("div.step-side", this.step_, this.weights), this.picture),
    ];
  }

  // The steps' numbers and buttons, and what holds for all steps.
  controls() {
    this.places = html(
      "ol.places.wraps",
      this.data.steps.map(({ title }, i) =>
        html(
          "li",
          html(
            "button.square",
            { title, "aria-label": `Step ${i + 1}: ${title}`, onclick: () => this.go(i + 1) },
            i + 1,
          ),
        ),
      ),
    );
    const back = linkButton("← Back", "Back to the step before (left arrow)", () => this.go(this.step - 1));
    const on = html(
      "button.act",
      { "aria-label": "Next step (right arrow)", onclick: () => this.go(this.step + 1) },
      html("b", "Next →"),
    );
    const guess = html("input", {
      type: "checkbox",
      checked: this.guessing,
      onchange: () => {
        this.guessing = guess.checked;
        this.known.clear();
        this.draw();
      },
    });
    const screen = linkButton("Full screen", "Full screen, in large type", () => this.wholeScreen());
    const own = linkButton("Reset numbers", "Reset numbers and sentences to the lesson’s", () =>
      this.send({ step: this.step, own: true }, 0),
    );
    this.buttons = { back, on };
    return html(
      "nav.controls",
      { "aria-label": "Steps" },
      this.places,
      html("span.controls.screen", back, on),
      html("label.guessing.soft.screen", guess, " Guess first"),
      screen,
      own,
    );
  }

  // The lesson's sentences, editable.
  sentences() {
    const sides = Object.entries(this.data.texts);
    if (!sides.length) return null;
    return html(
      "div.sentences.soft",
      sides.map(([side, text]) => {
        const field = html("input", {
          type: "text",
          value: text,
          "data-input": side,
          dir: "auto",
          onchange: () => this.send({ step: this.step, texts: { [side]: field.value } }, 0),
        });
        return html("label.labelled", html("span", capital(this.data.words.sides[side === "first" ? 0 : 1])), field);
      }),
    );
  }

  line({ label, rows }) {
    const cells = rows[0].shape === "curve" ? this.curves(rows) : rows.flatMap((row) => this.row(row));
    const line = html(
      "div.line.labelled",
      { role: "group", "aria-label": label },
      html("span.label.soft", { "aria-hidden": "true" }, label),
      html("div.parts.wraps", cells),
    );
    line.dataset.values = rows.map(({ value }) => value).join(" ");
    return line;
  }

  // The parts of a value: one for each word of its columns, or all in a row. A screen reader reads a part's word first.
  row({ value, label, of, across, shape }) {
    const { number, text } = this.data.values[value];
    const words = this.data.words[of];
    const named = words && Array.isArray(number) && words.length === number.length;
    const several = named || (Array.isArray(number) && Array.isArray(number[0]));
    const below = this.labelled.get(of) === value || shape === "rows";
    const parts = several
      ? number.map((part, i) => [`${value}.${i + 1}`, part, text[i], named ? words[i] : null])
      : [[value, number, text, words?.[0] ?? null]];
    const width = named && shape !== "rows" ? `--cells: ${this.widest}` : null;
    const heads = (this.data.words[across] ?? [])
      .slice(0, MOST)
      .map((word) => html("span.head", { title: word }, word));
    const head = heads.length ? html("div.part.stack.whole", html("span.word"), html("div.vector.small", heads)) : null;
    const rows = parts.map(([name, part, said, word], i) =>
      html(
        "div.part.stack",
        { class: shape === "rows" && "whole", style: width },
        word === null || !below ? null : html("span.word.small", { dir: "auto" }, word),
        this.cells(name, part, said, shape, word || several ? `${label}, ${word ?? i + 1}` : label),
      ),
    );
    return head ? [head, ...rows] : rows;
  }

  // A small chart of numbers over their words, each line labelled at its end; the scale fits the numbers.
  curves(rows) {
    const values = rows.map(({ value }) => this.data.values[value]);
    const words = this.data.words[rows[0].of];
    const all = values.flatMap(({ number }) => number);
    const [low, high] = [Math.min(...all), Math.max(...all)];
    const x = (i) => 40 + (i * 250) / Math.max(1, words.length - 1);
    const y = (number) => 100 - (90 * (number - low)) / (high - low || 1);
    const last = values.map(({ number }) => number.at(-1));
    const said = rows.map(({ name }, i) => `${name}: ${values[i].text.join(", ")}`).join("; ");
    const texts = [low, high].map((end) =>
      svg("text", { x: 34, y: y(end) + 4, "text-anchor": "end" }, Number(end.toFixed(2))),
    );
    const lines = rows.map(({ name }, i) => [
      svg("polyline", { class: `line-${i}`, points: values[i].number.map((one, k) => `${x(k)},${y(one)}`).join(" ") }),
      svg("text", { x: 296, y: y(last[i]) + (last[i] === Math.max(...last) ? 0 : 8) }, name),
    ]);
    const ks = words.map((word, k) => svg("text", { x: x(k), y: 118, "text-anchor": "middle" }, word));
    const frame = { class: "curves", viewBox: "0 0 340 122", role: "img", "aria-label": said };
    return [svg("svg", frame, texts, lines, ks)];
  }

  cells(name, number, text, shape, label) {
    if (!Array.isArray(number)) return this.cell(name, number, text, shape, label);
    const shown = number
      .slice(0, MOST)
      .map((part, i) => this.cells(`${name}.${i + 1}`, part, text[i], shape, `${label}, ${i + 1}`));
    const more =
      number.length > MOST
        ? html("span.rest.tiny", shape === "rows" ? `+${number.length - MOST}` : `and ${number.length - MOST} more`)
        : null;
    return html("div", { class: Array.isArray(number[0]) ? "matrix stack" : "vector", "data-of": name }, shown, more);
  }

  cell(name, number, text, shape, label) {
    const input = this.data.inputs.includes(name.split(".")[0]);
    const bar =
      shape === "bars"
        ? html("i.fill", { style: `width: ${Math.round(100 * Math.min(1, Math.max(0, number)))}%` })
        : null;
    const inner = input
      ? html("input", {
          type: "number",
          step: "any",
          value: number,
          "aria-label": label,
          "data-input": name,
          onchange: (event) => this.change(name, event.target),
        })
      : html("span.text", { "data-text": text, "data-number": number }, text);
    return html(
      "div.cell",
      {
        class: input && "given",
        "data-of": name,
        title: input && "Change this number",
      },
      bar,
      inner,
    );
  }

  change(name, field) {
    const number = Number(field.value);
    if (field.value.trim() === "" || !Number.isFinite(number)) {
      field.value = field.defaultValue; // the value that the lesson uses
      return;
    }
    this.send({ step: this.step, input: [name, number] }, 0);
  }

  go(step) {
    if (step < 1 || step > this.data.steps.length || step === this.step) return;
    const next = step === this.step + 1;
    this.step = step;
    this.draw();
    this.toHeading();
    if (next) this.move();
    this.send({ step }, next ? SETTLED : 250);
  }

  // The step's numbers move from those that they are computed from: `made_of` and `uses` in the lesson's file.
  move() {
    const known = this.cellsOf(this.data.steps.slice(0, this.step - 1).flatMap(({ lit }) => lit));
    const made = this.cellsOf(this.now.lit).filter((cell) => !known.includes(cell));
    const ways = made
      .map((cell) => [this.cellsOf(this.origins(cell.dataset.of)), cell])
      .filter(([from]) => from.length);
    if (!calm()) this.bring(ways.flat(2));
    this.rest = travel(this.picture, ways, () => this.toHeading());
  }

  toHeading() {
    this.step_.querySelector("h3").scrollIntoView({ block: "nearest" });
  }

  // Scrolls the lowest and then the highest of these cells into view.
  bring(cells) {
    const top = (cell) => cell.getBoundingClientRect().top;
    const falling = cells.sort((a, b) => top(b) - top(a));
    for (const cell of falling.slice(0, 1).concat(falling.slice(-1))) cell.scrollIntoView({ block: "nearest" });
  }

  cellsOf(names) {
    const cells = [...this.picture.querySelectorAll(".cell")];
    return cells.filter((cell) => names.some((name) => related(name, cell.dataset.of)));
  }

  // The names from which a number is computed; none if it is to be guessed and equals the only one.
  origins(name) {
    const names = this.data.origins[name] ?? [];
    return this.secret?.includes(name) && this.cellsOf(names).length === 1 ? [] : names;
  }

  key(event) {
    this.rest(); // a key ends an animation, whichever it is
    const at = event.composedPath()[0];
    if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey || at.closest?.(TYPING)) return;
    const to = {
      ArrowRight: this.step + 1,
      ArrowLeft: this.step - 1,
      PageDown: this.step + 1,
      PageUp: this.step - 1,
      Home: 1,
      End: this.data.steps.length,
    }[event.key];
    if (to) this.go(to);
    else if (event.key === "f") this.wholeScreen();
    else if (event.key !== "Enter" || !this.secret || at.closest?.("button, a")) return;
    else this.reveal(null);
    event.preventDefault();
  }

  /** @param {((values: number[]) => string) | null} judged scores a guess of these values in words */
  reveal(judged) {
    this.known.add(this.step);
    this.draw();
    const values = this.now.guess.map((name) => {
      const [head, ...places] = name.split(".");
      return places.reduce((inner, place) => inner[Number(place) - 1], this.data.values[head].number);
    });
    if (judged) this.step_.querySelector(".guess")?.replaceChildren(judged(values));
  }

  // Boxes to tick for the parts that are guessed to be more than half.
  vote() {
    const { vote, parts } = this.now;
    const boxes = parts.map((part) => html("input", { type: "checkbox", "aria-label": `Vote for ${part}` }));
    const check = () =>
      this.reveal((values) =>
        judgedVote(
          parts,
          boxes.map(({ checked }) => checked),
          values,
        ),
      );
    return [
      html("span", vote),
      parts.map((part, i) => html("label.together", boxes[i], " ", part)),
      linkButton("Check", "Check the votes against the numbers", check),
      linkButton("Show it", "Show the numbers (Enter)", () => this.reveal(null)),
    ];
  }

  // A field for a guess, and buttons that check it and show the number.
  guess() {
    const judged =
      (guess) =>
      ([value]) => {
        const off = Math.abs(guess - value);
        return off <= this.now.within ? "Right." : `You guessed ${guess}; it is off by ${Number(off.toPrecision(2))}.`;
      };
    const check = () => field.value.trim() !== "" && this.reveal(judged(Number(field.value)));
    const onkeydown = (event) => {
      if (event.key !== "Enter") return;
      event.preventDefault();
      check();
    };
    const field = html("input", { type: "number", step: "any", "aria-label": "Your guess", onkeydown });
    return [
      html("label", "Your guess ", field),
      linkButton("Check", "Check the guess against the number", check),
      linkButton("Show it", "Show it: the number (Enter)", () => this.reveal(null)),
    ];
  }

  // What is said once the number is known.
  note() {
    return this.now.note ? [html("p.more.soft", this.now.note)] : [];
  }

  draw() {
    const { data, now, step, secret } = this;
    this.buttons.back.disabled = step === 1;
    this.buttons.on.disabled = step === data.steps.length;
    [...this.places.children].forEach((item, i) => {
      item.firstChild.ariaCurrent = i + 1 === step ? "step" : null;
    });
    // Existing elements stay: a guess may be half typed when the server responds, and a screen reader announces only
    // what is new, such as a number that is revealed.
    const shown = `${data.drawing} ${step} ${this.guessing}`;
    if (this.shown !== shown)
      refill(
        this.step_,
        html("h3", html("span.count.soft", `${step} of ${data.steps.length}`), " ", now.title),
        html("p.says", now.says),
        html("div.formula", { tabindex: 0, role: "group", "aria-label": "Formula" }, math(now.formula)),
        html(
          "div.numbers",
          { tabindex: 0, role: "group", "aria-label": "The same with numbers" },
          now.numbers.map(math),
        ),
        now.guess.length > 0 && html("div.guess.controls.mid", secret && (now.vote ? this.vote() : this.guess())),
        secret ? null : this.note(),
        now.opens
          ? html(
              "p",
              html(
                "a.link",
                { href: `./?model=${now.opens}`, target: "_self" },
                `See it in a trained model: ${now.opens}`,
              ),
            )
          : null,
      );
    else if (!secret) {
      const guess = this.step_.querySelector(".guess:has(input)");
      guess?.replaceChildren();
      guess?.after(...this.note());
    }
    this.shown = shown;
    this.light();
    this.squeeze();
  }

  // The picture at this step: what is highlighted, what later steps compute, and the number to guess, hidden everywhere.
  light() {
    const { data, now, step, secret } = this;
    const names = data.steps.slice(0, step).flatMap(({ lit }) => lit);
    const reached = new Set(names.map((name) => name.split(".")[0]));
    for (const line of foundIn(this.picture, ".line")) {
      const values = line.dataset.values.split(" ");
      line.classList.toggle("unknown", secret !== null && values.includes(secret[0].split(".")[0]));
      const ahead = !values.some((value) => reached.has(value) || data.inputs.includes(value));
      line.classList.toggle("ahead", ahead);
      line.ariaHidden = String(ahead);
    }
    const weights = [...this.weights.children];
    for (const line of weights) line.hidden = !line.dataset.values.split(" ").some((value) => now.lit.includes(value));
    this.weights.hidden = weights.every((line) => line.hidden);
    for (const cell of foundIn(this.root, ".cell")) {
      const own = cell.dataset.of;
      const among = (some) => some.some((name) => related(name, own));
      cell.classList.toggle("lit", among(now.lit));
      cell.classList.toggle("ahead", own in data.origins && !among(names)); // a later step computes it
    }
    // Every copy of the number to be guessed, and of those that give it away.
    for (const copy of foundIn(this.root, "[data-of]")) {
      const name = copy.getAttribute("data-of");
      const asked = secret !== null && secret.includes(name);
      const hidden = asked || (secret !== null && now.hidden.includes(name));
      const instead = asked ? "?" : "…";
      copy.classList.toggle("secret", asked);
      if (copy.classList.contains("value") && (hidden || copy.dataset.text)) {
        copy.dataset.text ??= copy.textContent;
        copy.textContent = hidden ? instead : copy.dataset.text;
      }
      const [text] = foundIn(copy, ":scope > .text");
      if (text) text.textContent = hidden ? instead : text.dataset.text;
      if (text) copy.title = asked ? "To be guessed" : hidden ? "Shown with the guess" : text.dataset.number;
      const [bar] = foundIn(copy, ":scope > .fill");
      if (bar) bar.hidden = hidden;
    }
  }

  // A formula wider than its frame is shrunk while it stays legible; beyond that its frame scrolls.
  squeeze() {
    for (const frame of this.step_.querySelectorAll(".formula, .numbers")) {
      frame.style.removeProperty("--fit");
      const { paddingLeft, paddingRight } = getComputedStyle(frame);
      const padding = parseFloat(paddingLeft) + parseFloat(paddingRight);
      if (frame.scrollWidth > frame.clientWidth)
        frame.style.setProperty(
          "--fit",
          Math.max(0.73, (0.99 * (frame.clientWidth - padding)) / (frame.scrollWidth - padding)),
        );
    }
  }

  // Highlights a number everywhere, and the numbers that it is computed from.
  point(name) {
    if (name === this.pointed) return;
    this.pointed = name;
    const origins = this.origins(name);
    for (const one of this.root.querySelectorAll("[data-of]")) {
      const own = one.getAttribute("data-of");
      const leaf = !one.querySelector("[data-of]");
      one.classList.toggle("hot", name !== null && leaf && related(own, name));
      one.classList.toggle("origin", leaf && origins.some((origin) => related(own, origin)));
    }
  }

  arrange() {
    if (this.step_) this.squeeze();
    document.fonts.ready.then(() => this.squeeze());
  }
}

VIEWS.lesson = (root) => new LessonView(root);
