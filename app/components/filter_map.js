// The filter map: the reference texts by class, a person's own as stars. A person may zoom and move it, and it stays
// so while they type; the buttons below it hide and show classes.

import { fill, heading, html, refill, svg } from "./elements.js";
import { keyMark, lookOf, marker } from "./marks.js";
import { saveButtons } from "./save.js";
import { Tip } from "./tip.js";
import { VIEWS, View } from "./view.js";

const PLANE = { height: 400, mark: 3.5, star: 10, ring: 7, reach: 14, most: 60 };
const YOURS = "yours (approximate)";
const EARLIER = "earlier versions";
const NEAREST = "nearest filters";

// The sign for the whole screen, which not every font has.
function corners() {
  return svg(
    "svg",
    { viewBox: "0 0 14 14", width: "60%", "aria-hidden": "true" },
    svg("path", {
      d: "M1 5V1H5M9 1H13V5M13 9V13H9M5 13H1V9",
      fill: "none",
      stroke: "currentColor",
      "stroke-width": 1.5,
    }),
  );
}

/**
 * @typedef {[number, number]} Spot
 * @extends {View<import("./payloads").Drawn["filterMap"] & { about: import("./payloads").About, description: string }>}
 */
class FilterMapView extends View {
  take(data) {
    // Another view is asked for, or the star has moved out of the part that is shown: the map goes back to all of it.
    if (data.near !== this.near) this.own = null;
    this.home = data.home;
    this.near = data.near;
    const { x, y } = data.stars.find((star) => star.looked && !star.earlier) ?? {};
    const moved = x !== this.looked?.x || y !== this.looked?.y;
    if (this.own && x !== undefined && moved && !this.shows(this.at(x, y))) this.own = null;
    this.looked = { x, y };
  }

  build() {
    this.own = null; // where a person has moved the map: its middle, and how many times as large it is
    this.hidden = new Set();
    this.points = this.data.classes.map((one) => ({ ...one, path: svg("path", { ...lookOf(one), opacity: 0.85 }) }));
    this.drawn = svg("g");
    this.plane = svg(
      "svg.plane",
      { role: "img", tabindex: 0 },
      svg(
        "g",
        this.points.map(({ path }) => path),
        this.drawn,
      ),
    );
    this.tip = new Tip();
    this.key = html("div.map-key.small.wraps", { role: "group", "aria-label": "Classes that are shown" });
    const { reading, meaning, quality } = this.data;
    const more = `${meaning} Drag the map to move it; + and − (on a touch screen two fingers, else Ctrl and the wheel) make it larger or smaller. With the keyboard: arrow keys, +, − and 0 for the whole map. A name below the map hides that class and shows it again.`;
    const zooms = [
      ["+", "Zoom in", () => this.zoom(1.6)],
      ["−", "Zoom out", () => this.zoom(1 / 1.6)],
      ["⤢", "The whole map again", () => this.whole()],
    ];
    if (document.fullscreenEnabled) zooms.push([corners(), "The map on the whole screen", () => this.wholeScreen()]);
    const saves = saveButtons(this, "filter map", () => ({
      file: "filter-map",
      title: "",
      elements: [this.plane, this.key],
    }));
    this.listenToPlane();
    return html(
      "section.filter-map",
      { "aria-label": "Filter map" },
      heading("", reading, more, saves),
      html(
        "div.ground",
        this.plane,
        html(
          "div.zooms.stack.screen",
          zooms.map(([sign, name, onclick]) =>
            html("button.square", { "aria-label": name, title: name, onclick }, sign),
          ),
        ),
      ),
      this.key,
      html("p.how.soft", quality),
      this.tip.element,
    );
  }

  arrange(width) {
    const tall = this.onWholeScreen
      ? this.plane.clientHeight + this.room()
      : Math.min(PLANE.height * this.type, 0.75 * width);
    this.width = width;
    this.height = Math.max(280, tall);
    fill(this.plane, { width, height: this.height }, []);
    this.draw();
  }

  // Pixels of the whole screen that are left below the last part.
  room() {
    const drawn =
      this.root.lastElementChild.getBoundingClientRect().bottom -
      this.root.firstElementChild.getBoundingClientRect().top;
    return this.root.clientHeight - drawn;
  }

  // Numbers of the map in one pixel, and the numbers in the middle.
  get view() {
    const [[left, right], [low, high]] = this.home;
    const all = Math.max((right - left) / this.width, (high - low) / this.height);
    const { x, y, times } = this.own ?? { x: (left + right) / 2, y: (low + high) / 2, times: 1 };
    return { x, y, times, unit: all / times };
  }

  /** @returns {Spot} */
  at(x, y) {
    const { x: middle, y: centre, unit } = this.view;
    return [this.width / 2 + (x - middle) / unit, this.height / 2 - (y - centre) / unit];
  }

  /** @param {Spot} place */
  shows([x, y]) {
    return x >= 0 && y >= 0 && x <= this.width && y <= this.height;
  }

  draw() {
    if (!this.width) return;
    const { rings, pairs, trails, stars, description } = this.data;
    const scale = this.type * (this.view.times > 2 ? 1.3 : 1);
    this.places = [];
    for (const { name, symbol, path, x, y, labels } of this.points) {
      const draw = marker(symbol, PLANE.mark * scale);
      const parts = [];
      const hidden = this.hidden.has(name);
      for (let i = 0; i < x.length && !hidden; i += 1) {
        const at = this.at(x[i], y[i]);
        if (!this.shows(at)) continue;
        parts.push(draw(...at));
        this.places.push({ at, label: labels[i] });
      }
      path.setAttribute("d", parts.join(""));
    }
    const shown = (name) => !this.hidden.has(name);
    const ring = marker("circle", PLANE.ring * this.type);
    refill(
      this.drawn,
      this.names(shown).map(({ at, text }) => this.text(at, text, { class: "name" })),
      shown(NEAREST) && svg("path.rings", { d: rings.x.map((x, i) => ring(...this.at(x, rings.y[i]))).join("") }),
      shown(YOURS) &&
        pairs.map(([one, other]) => this.line(this.at(...one), this.at(...other), { class: "pair-of-stars" })),
      shown(EARLIER) && trails.map((trail) => this.arrow(trail)),
      stars.filter((star) => shown(star.earlier ? EARLIER : YOURS)).map((star) => this.star(star)),
    );
    this.plane.setAttribute("aria-label", description);
    refill(
      this.key,
      this.entries().map((entry) => this.entry(entry)),
    );
  }

  // The names of the classes that are shown, each moved up or down off the stars and off the names before it, by two
  // lines at most.
  names(shown) {
    const line = 16 * this.type;
    const boxes = this.data.stars
      .filter(({ earlier }) => !earlier && shown(YOURS))
      .map(({ x, y }) => {
        const at = this.at(x, y);
        return { at: [at[0], at[1] - 10 * this.type], half: line, high: 1.2 * line };
      });
    return this.data.names
      .map(({ x, y, text }) => ({ at: this.at(x, y), text }))
      .filter(({ at, text }) => shown(text) && this.shows(at))
      .map(({ at: [x, y], text }) => {
        const half = this.half(text);
        const free = (place) =>
          place >= line / 2 &&
          place <= this.height - line / 2 &&
          boxes.every(
            (box) => Math.abs(box.at[0] - x) >= half + box.half || Math.abs(box.at[1] - place) >= box.high + line / 2,
          );
        const place =
          [0, 0.5, -0.5, 1, -1, 1.5, -1.5, 2, -2].map((lines) => y + lines * line).find(free) ??
          Math.min(Math.max(y, line / 2), this.height - line / 2);
        boxes.push({ at: [x, place], half, high: line / 2 });
        return { at: [x, place], text };
      });
  }

  // Half the width of a text, about.
  half(text) {
    return (3.6 * Array.from(text).length + 2) * this.type;
  }

  // Inside of the map, whose edges would cut it.
  /** @param {number[]} place */
  text([x, y], text, attributes) {
    const half = this.half(text);
    const middle = Math.min(Math.max(x, half), Math.max(half, this.width - half));
    return svg("text", { x: middle.toFixed(1), y: (y + 4.5 * this.type).toFixed(1), ...attributes }, text);
  }

  /**
   * @param {number[]} from
   * @param {number[]} to
   * @param {object} attributes
   */
  line([x1, y1], [x2, y2], attributes) {
    return svg("line", { x1, y1, x2, y2, ...attributes });
  }

  // Drawn along x, and turned.
  arrow({ before, after, looked }) {
    const [tail, head] = [this.at(...before), this.at(...after)];
    const [right, down] = [head[0] - tail[0], head[1] - tail[1]];
    const long = Math.hypot(right, down) || 1;
    const [start, end] = [Math.min(7, long / 3), Math.max(long - 9, long / 2)];
    const stroke = looked ? "var(--accent)" : "var(--soft)";
    return svg(
      "g.trail",
      { transform: `translate(${tail}) rotate(${(Math.atan2(down, right) * 180) / Math.PI})` },
      this.line([start, 0], [Math.max(start, end - 6), 0], { style: `stroke:${stroke}` }),
      svg("path", { d: `M${end} 0l-8 4v-8z`, fill: stroke }),
    );
  }

  star({ x, y, earlier, looked, second, badge, label }) {
    const at = this.at(x, y);
    if (this.shows(at)) this.places.push({ at, label, star: true });
    const [ground, size] = [looked ? "var(--star-looked)" : "var(--star)", (earlier ? 7.5 : PLANE.star) * this.type];
    const mark = svg("path", {
      d: marker(second ? "hexagram" : "star", size)(...at),
      fill: looked ? "var(--accent)" : ground,
      stroke: "#ffffff",
      "stroke-width": 1.5,
      "stroke-linejoin": "round",
      opacity: earlier ? 0.6 : 1,
    });
    if (earlier) return svg("g.star.earlier", { "data-words": label[1] }, mark);
    const [wide, high] = [(9 + 7 * badge.length) * this.type, 18 * this.type];
    const [left, middle] = [
      Math.min(Math.max(0, at[0] - wide / 2), this.width - wide),
      at[1] + 22 * this.type * (at[1] < 32 * this.type ? 1 : -1),
    ];
    return svg(
      "g.star.now",
      { "data-words": label[1] },
      mark,
      svg("rect", { x: left, y: middle - high / 2, width: wide, height: high, rx: 3, fill: ground, stroke: "#ffffff" }),
      this.text([left + wide / 2, middle], badge, { class: "badge" }),
    );
  }

  // What the buttons below the map name: the classes, and what is drawn above them.
  entries() {
    const { stars, rings } = this.data;
    const of = [
      [NEAREST, rings.x.length, "circle-open", "var(--accent)"],
      [EARLIER, stars.some((star) => star.earlier), "star", "var(--soft)"],
      [YOURS, stars.length, "star", "var(--accent)"],
    ];
    return [
      ...this.points,
      ...of.filter(([, there]) => there).map(([name, , symbol, colour]) => ({ name, symbol, colour })),
    ];
  }

  entry(one) {
    const size = 12 * this.type;
    const mark = svg(
      "svg",
      { width: size, height: size, viewBox: "-6 -6 12 12", "aria-hidden": "true" },
      svg("path", { d: keyMark(one)(0, 0), ...lookOf(one) }),
    );
    return html(
      "button",
      {
        class: this.hidden.has(one.name) && "screen",
        "aria-pressed": !this.hidden.has(one.name),
        "data-name": one.name,
        title: `Hide or show: ${one.name}`,
        onclick: () => this.toggle(one.name),
      },
      mark,
      html("bdi", one.name),
    );
  }

  toggle(name) {
    if (!this.hidden.delete(name)) this.hidden.add(name);
    this.draw();
  }

  whole() {
    this.own = null;
    this.draw();
  }

  // The point below `x, y`, in pixels, stays where it is.
  zoom(ratio, x = this.width / 2, y = this.height / 2) {
    const { x: middle, y: centre, times, unit } = this.view;
    const next = Math.min(PLANE.most, Math.max(0.5, times * ratio));
    const less = unit - (unit * times) / next;
    this.own = { x: middle + (x - this.width / 2) * less, y: centre - (y - this.height / 2) * less, times: next };
    this.later();
  }

  move(right, down) {
    const { x, y, times, unit } = this.view;
    this.own = { x: x - right * unit, y: y + down * unit, times };
    this.later();
  }

  // Many movements are drawn once.
  later() {
    this.tip.hide();
    this.waiting ??= requestAnimationFrame(() => {
      this.waiting = null;
      this.draw();
    });
  }

  listenToPlane() {
    const fingers = new Map();
    /** @returns {Spot} */
    const place = (event) => {
      const box = this.plane.getBoundingClientRect();
      return [event.clientX - box.left, event.clientY - box.top];
    };
    const lift = (event) => fingers.delete(event.pointerId);
    const on = (name, act) => this.plane.addEventListener(name, act, { passive: false });
    on("pointerdown", (event) => {
      if (event.button) return;
      fingers.set(event.pointerId, place(event));
      this.plane.setPointerCapture(event.pointerId);
    });
    on("pointermove", (event) => {
      const before = fingers.get(event.pointerId);
      const now = place(event);
      if (!before) return this.point(now, event);
      const [other] = [...fingers].filter(([id]) => id !== event.pointerId).map(([, at]) => at);
      fingers.set(event.pointerId, now);
      const [right, down] = [now[0] - before[0], now[1] - before[1]];
      if (other) {
        const far = (at) => Math.hypot(at[0] - other[0], at[1] - other[1]);
        this.move(right / 2, down / 2);
        this.zoom(far(now) / Math.max(1, far(before)), (now[0] + other[0]) / 2, (now[1] + other[1]) / 2);
      } else if (event.pointerType !== "touch" && (right || down)) this.move(right, down); // one finger scrolls the page
    });
    for (const name of ["pointerup", "pointercancel"]) on(name, lift);
    on("click", (event) => this.point(place(event), event)); // a tap
    on("pointerleave", () => this.tip.hide());
    on("dblclick", (event) => this.zoom(2, ...place(event)));
    on("wheel", (event) => {
      if (!event.ctrlKey && !event.metaKey) return;
      event.preventDefault();
      this.zoom(Math.exp(-event.deltaY / 200), ...place(event));
    });
    on("keydown", (event) => {
      const moves = { ArrowLeft: [40, 0], ArrowRight: [-40, 0], ArrowUp: [0, 40], ArrowDown: [0, -40] };
      const acts = {
        "+": () => this.zoom(1.6),
        "=": () => this.zoom(1.6),
        "-": () => this.zoom(1 / 1.6),
        0: () => this.whole(),
      };
      if (event.ctrlKey || event.metaKey || !(moves[event.key] || acts[event.key])) return;
      event.preventDefault();
      if (moves[event.key]) this.move(...moves[event.key]);
      else acts[event.key]();
    });
  }

  // Names the mark that lies nearest to the place, a star before all others.
  point([x, y], event) {
    let [best, least] = [null, PLANE.reach * this.type];
    for (const one of this.places) {
      const far = Math.hypot(one.at[0] - x, one.at[1] - y) - (one.star ? 8 : 0);
      if (far < least) [best, least] = [one, far];
    }
    if (!best) return this.tip.hide();
    const [head, words, kind] = best.label;
    this.tip.show(
      event,
      head && html("b", html("bdi", head)),
      [words, kind].map((line) => line && html("span", html("bdi", line))),
    );
  }
}

VIEWS.filterMap = (root) => new FilterMapView(root);
