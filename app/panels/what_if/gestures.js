// Changes a cell's weight in the matrix itself, by dragging up or down.

import { html } from "../../components/create.js";
import { percent } from "../../components/wording.js";

const WHOLE = 160; // pixels of a drag from no weight to the full weight
const STILL = 5; // pixels of movement that still count as a click

const within = (weight) => Math.min(1, Math.max(0, weight));

export class CellGestures {
  /**
   * @param {import("../attention_map/matrix.js").MatrixPanel} matrix
   * @param {{ moved: (at: [number, number], weight: number) => void,
   *   released: (at: [number, number], weight: number) => void }} listeners
   */
  constructor(matrix, listeners) {
    this.matrix = matrix;
    this.listeners = listeners;
    this.held = null; // the cell being changed, with its current weight
    this.pressed = null;
    this.dragged = false;
    matrix.frame.addEventListener("keydown", (event) => this.key(event));
    matrix.frame.addEventListener("pointerdown", (event) => this.press(event));
  }

  own(at) {
    return this.matrix.number("weights", ...at);
  }

  key(event) {
    if (event.key !== "Escape" || !this.held) return;
    event.preventDefault();
    this.cancel();
  }

  // Touch scrolls the matrix; it has the slider.
  press(event) {
    const at = this.matrix.placeOf(event);
    if (!at || event.button !== 0 || event.pointerType === "touch") return;
    this.dragged = false;
    this.pressed = { at, y: event.clientY, weight: this.own(at) };
    // A quick drag leaves the matrix before it is recognised.
    const ended = new AbortController();
    const on = (name, act) => window.addEventListener(name, act, { signal: ended.signal, capture: true });
    const end = (act) => {
      act();
      setTimeout(() => ended.abort()); // after the click that follows
    };
    on("pointermove", (moved) => this.drag(moved));
    on("pointerup", () => end(() => this.letGo()));
    on("pointercancel", () => end(() => this.cancel()));
    on("click", (click) => this.dragged && click.stopImmediatePropagation()); // it was a drag, not a click
  }

  drag(event) {
    const { pressed, matrix } = this;
    if (!pressed) return;
    event.stopPropagation();
    const up = pressed.y - event.clientY;
    if (!this.dragged && Math.abs(up) < STILL) return;
    if (!this.dragged) matrix.frame.setPointerCapture(event.pointerId);
    this.dragged = true;
    const weight = within(Math.round(100 * (pressed.weight + up / WHOLE)) / 100);
    this.move(pressed.at, weight);
    const [i, j] = pressed.at;
    const cell = html("b", html("bdi", matrix.rows[i]), " → ", html("bdi", matrix.word(j)));
    matrix.tip.show(event, cell, html("span", `weight ${percent(weight)}, was ${percent(pressed.weight)}`));
  }

  letGo() {
    this.pressed = null;
    if (this.dragged) this.release();
  }

  // Shown at once; requested on release.
  move(at, weight) {
    this.held = { at, weight };
    this.show(at, weight);
  }

  show(at, weight) {
    const { matrix } = this;
    const rect = matrix.rect(...at);
    if (matrix.attention.show === "weight") rect.setAttribute("fill", matrix.colour(weight));
    rect.setAttribute("aria-label", `${matrix.rows[at[0]]} to ${matrix.word(at[1])}: weight ${percent(weight)}`);
    this.listeners.moved(at, weight);
  }

  release() {
    const { held } = this;
    this.held = null;
    this.matrix.tip.hide();
    if (!held) return;
    if (held.weight === this.own(held.at)) this.show(held.at, held.weight);
    else this.listeners.released(held.at, held.weight);
  }

  cancel() {
    const { held } = this;
    this.held = this.pressed = null;
    if (held) this.show(held.at, this.own(held.at));
  }
}
