// The filter map: reference texts, one shape per class, and the user's own texts above them. Dragging moves it, buttons
// zoom; the zoom and hidden classes survive a new text.

import { html, svg } from "./create.js";
import { heading, linkButton, refill } from "./elements.js";
import { lookOf, markAlone, marksAt } from "./map_symbols.js";
import { Plane } from "./plane.js";
import { saveButtons } from "./save.js";
import { Tip } from "./tip.js";
import { VIEWS, View } from "./view.js";

const HEIGHT = 350; // pixels at normal type size
const REST = 170; // pixels of a whole screen that are not the map
const STEP = 1.5; // of the zoom buttons
const PAN = 60; // pixels that an arrow key moves the map
const REACH = 12; // pixels from the pointer to the mark that it names
const SIZES = { point: 5, nearest: 14, star: 18, old: 14, arrow: 9 }; // pixels at normal type size
const STANDOFF = 8; // pixels between an arrow and the star that it points at
// The user's own marks in the legend, by the field that has them.
const OWN = {
  nearest: ["nearest filters", "circle-open", "ring"],
  old: ["earlier versions", "star", "star old"],
  stars: ["yours (approximate)", "star", "star"],
};

/** @extends {View<import("./payloads").Drawn["filterMap"] & { about: import("./payloads").About }>} */
class FilterMapView extends View {
  /** @type {Plane | null} */
  plane = null;
  /** @type {Set<string>} names in the legend */
  hidden = new Set();
  home = null;
  near = false;
  moved = false; // whether the user has changed the view
  tip = new Tip();

  listen(on) {
    super.listen(on);
    on(window, "scroll", () => this.tip.hide(), true);
  }

  // The view stays, unless another part of the map was chosen or the inspected text would be outside.
  take({ home, near, inspected }) {
    const chosen = near !== this.near || (near && String(home) !== String(this.home));
    const unseen = inspected && this.plane && !this.plane.holds(inspected);
    if (this.home && !chosen && !unseen) return;
    Object.assign(this, { home, near, moved: false });
  }

  build() {
    const { reading, meaning, classes, said } = this.data;
    const more = `${meaning} Drag the map to move it, double-click to reset it. Click a name below the map to hide that class or show it again; a double click shows it alone.`;
    this.home = this.data.home;
    this.moved = false;
    this.hidden.clear();
    this.shapes = classes.map(({ symbol, colour }) => svg("path", lookOf(symbol, colour)));
    this.above = svg("g");
    this.plot = svg(
      "svg",
      { role: "img", "aria-label": said, tabindex: "0", ...this.handlers },
      svg("g.points", this.shapes),
      this.above,
    );
    this.entries = new Map([
      ...classes.map(({ name, symbol, colour }) => this.entry(name, markAlone(symbol, 9, lookOf(symbol, colour)))),
      ...Object.values(OWN).map(([name, symbol, kind]) => this.entry(name, markAlone(symbol, 11, { class: kind }))),
    ]);
    this.key = html("div.entries.small", [...this.entries.values()]);
    this.figure = html("div.map", this.plot, this.key);
    const zooms = [
      ["+", "Zoom in", () => this.zoom(STEP)],
      ["\u2212", "Zoom out", () => this.zoom(1 / STEP)],
      ["Reset", "Reset the view", () => this.reset()],
      ["Full screen", "Full screen, in large type", () => this.wholeScreen()],
    ].map(([text, label, act]) => [linkButton(text, label, act), "\u2002"]);
    const saves = saveButtons(this, "filter map", () => ({
      file: "filter-map",
      title: "Filter map",
      elements: [this.plot, this.key],
    }));
    return [heading("", reading, more, [html("span.together", zooms), " ", saves]), this.figure, this.tip.element];
  }

  get handlers() {
    let held = null;
    const release = () => (held = null);
    return {
      onpointerdown: (event) => {
        if (event.pointerType !== "mouse" || event.button) return; // a finger scrolls the page
        held = event;
        this.plot.setPointerCapture(event.pointerId);
      },
      onpointermove: (event) => {
        if (!held) return event.pointerType === "mouse" && this.name(event);
        this.pan(event.clientX - held.clientX, event.clientY - held.clientY);
        held = event;
      },
      onpointerup: release,
      onpointercancel: release,
      onpointerleave: () => this.tip.hide(),
      onclick: (event) => this.name(event),
      ondblclick: () => this.reset(),
      onkeydown: (event) => this.step(event),
    };
  }

  entry(name, mark) {
    const button = html(
      "button",
      {
        "aria-pressed": true,
        "aria-label": `Hide or show: ${name}`,
        onclick: () => this.toggle(name),
        ondblclick: () => this.only(name),
      },
      mark,
      html("span", name),
    );
    return /** @type {[string, HTMLElement]} */ ([name, button]);
  }

  toggle(name) {
    if (!this.hidden.delete(name)) this.hidden.add(name);
    this.draw();
  }

  // This class without the others; all of them if it is alone already.
  only(name) {
    const others = this.data.classes.map((one) => one.name).filter((other) => other !== name);
    const alone = others.length > 0 && others.every((other) => this.hidden.has(other));
    this.hidden = new Set(alone ? [] : others);
    this.draw();
  }

  zoom(factor) {
    this.look(this.plane.zoomed(factor));
  }

  pan(right, down) {
    this.tip.hide();
    this.look(this.plane.moved(right, down));
  }

  look(plane) {
    Object.assign(this, { plane, moved: true });
    this.draw();
  }

  reset() {
    Object.assign(this, { home: this.data.home, moved: false });
    this.draw();
  }

  step(event) {
    const way = { ArrowLeft: [PAN, 0], ArrowRight: [-PAN, 0], ArrowUp: [0, PAN], ArrowDown: [0, -PAN] }[event.key];
    const factor = { "+": STEP, "-": 1 / STEP }[event.key];
    if (!way && !factor) return;
    event.preventDefault();
    if (way) this.pan(way[0], way[1]);
    else this.zoom(factor);
  }

  arrange() {
    this.draw();
  }

  draw() {
    const width = this.figure.clientWidth;
    if (!width) return;
    const height = this.onWholeScreen ? Math.max(HEIGHT, window.innerHeight - REST * this.type) : HEIGHT * this.type;
    const size = [width, Math.round(height)];
    this.plot.setAttribute("width", String(width));
    this.plot.setAttribute("height", String(size[1]));
    this.plane = this.moved && this.plane ? this.plane.resized(size) : Plane.holding(this.home, size);
    this.drawPoints();
    refill(this.above, this.names(), this.own());
    this.drawKey();
  }

  shows(name) {
    return !this.hidden.has(name);
  }

  drawPoints() {
    const size = SIZES.point * this.type;
    this.data.classes.forEach(({ name, symbol, points }, i) => {
      const places = this.shows(name) ? points.map((point) => this.plane.at(point)) : [];
      this.shapes[i].setAttribute("d", marksAt(symbol, size, places));
    });
  }

  names() {
    return this.data.names
      .filter(([name]) => this.shows(name))
      .map(([name, point]) => {
        const [x, y] = this.plane.at(point);
        return svg("text.name", { x, y }, name);
      });
  }

  // The user's texts, from below: rings, trails, lines between pairs, stars.
  own() {
    const { nearest, trails, pairs, stars } = this.data;
    const at = (point) => this.plane.at(point);
    const shown = Object.fromEntries(Object.entries(OWN).map(([field, [name]]) => [field, this.shows(name)]));
    const rings = marksAt("circle", SIZES.nearest * this.type, nearest.map(at));
    return [
      shown.nearest && nearest.length > 0 && svg("path.ring", { d: rings }),
      shown.old && trails.map(({ points, inspected }) => this.trail(points.map(at), inspected)),
      shown.stars && pairs.map((ends) => svg("path.pair", { d: `M${ends.map(at).join("L")}` })),
      stars.filter(({ old }) => (old ? shown.old : shown.stars)).map((star) => this.star(star, at(star.at))),
    ];
  }

  // An arrow from each version of a text to the next.
  trail(places, inspected) {
    const heads = places.slice(1).map(([x, y], /** @type {number} */ i) => {
      const angle = Math.atan2(y - places[i][1], x - places[i][0]);
      const back = (length, turn) => [x - length * Math.cos(angle + turn), y - length * Math.sin(angle + turn)];
      const far = (STANDOFF + SIZES.arrow) * this.type;
      return `M${back(STANDOFF * this.type, 0)}L${back(far, 0.28)}L${back(far, -0.28)}Z`;
    });
    const kind = inspected && "inspected";
    return svg(
      "g.trail",
      { class: kind },
      svg("path.line", { d: `M${places.join("L")}` }),
      svg("path", { d: heads.join("") }),
    );
  }

  star({ name, label, old, inspected, second }, [x, y]) {
    const size = (old ? SIZES.old : SIZES.star) * this.type;
    const kinds = ["star", old && "old", inspected && "inspected"].filter(Boolean).join(" ");
    const mark = svg("path", { d: marksAt(second ? "hexagram" : "star", size, [[x, y]]) });
    const words = label.filter(Boolean).join(" ");
    return svg(
      "g",
      { class: kinds, "data-name": old ? null : name, "data-label": words },
      mark,
      !old && svg("text", { x, y: y - size * 0.75 }, name),
    );
  }

  drawKey() {
    const { stars, nearest } = this.data;
    const present = {
      nearest: nearest.length > 0,
      old: stars.some(({ old }) => old),
      stars: stars.some(({ old }) => !old),
    };
    for (const [name, button] of this.entries) button.setAttribute("aria-pressed", String(this.shows(name)));
    for (const [field, [name]] of Object.entries(OWN)) this.entries.get(name).hidden = !present[field];
  }

  // The label of the mark at the pointer.
  name(event) {
    const { left, top } = this.plot.getBoundingClientRect();
    const [x, y] = [event.clientX - left, event.clientY - top];
    const label = this.labelAt(x, y);
    if (!label) return this.tip.hide();
    const [title, text, kind] = label;
    this.tip.show(event, title && html("b", title), text && html("span", text), html("span", kind));
  }

  labelAt(x, y) {
    let [found, least] = [null, REACH * this.type];
    const consider = (point, label) => {
      const [px, py] = this.plane.at(point);
      const distance = Math.hypot(px - x, py - y);
      if (distance < least) [found, least] = [label, distance];
    };
    for (const { old, at, label } of this.data.stars)
      if (this.shows(OWN[old ? "old" : "stars"][0])) consider(at, label);
    if (found) return found; // stars lie above
    for (const { name, points, labels } of this.data.classes)
      if (this.shows(name)) points.forEach((point, i) => consider(point, labels[i]));
    return found;
  }
}

VIEWS.filterMap = (root) => new FilterMapView(root);
