// A panel: what the browser draws of one kind of record, or of one answer.

import { html } from "./create.js";
import { refill } from "./elements.js";

/** @typedef {import("../panels/attention_map/records.js").WordMap & { axes: string[], final: number | null }} Ribbons */
/**
 * What `make` returns: an element, and the moments at which the view calls it; all but `element` and `draw` are optional.
 * @typedef {object} Panel
 * @property {HTMLElement} element
 * @property {() => void} draw the selection, the answers or the settings changed
 * @property {() => void} [ready] all panels are made
 * @property {() => void} [prepare] before the first panel draws
 * @property {(width: number) => void} [fit] the page's width in pixels changed
 * @property {() => void} [reveal] the user selected a word: scroll to it
 * @property {(event: KeyboardEvent) => void} [shortcut] a key was pressed anywhere on the page
 * @property {(map: { rows: string, columns: string, weights: number[][] }) => void} [follows] weights are tried out
 * @property {(old: Panel) => void} [replaces] takes over from this panel of the previous drawing
 * @property {string | null} [direction] role of the sentence that looks: the panel is hidden in the other direction
 * @property {Ribbons} [ribbons] the map that the text draws as ribbons
 * @property {(role: string, index: number) => unknown} [barOf] a word's bar in the text
 * @property {HTMLDetailsElement} [door] the collapsible part that it is in, set by the view
 */

/**
 * A panel with bars in the text: each in words, how to read them, more about them, and their scale.
 * @typedef {Panel & { title: string, how: string, more: string, key: HTMLElement,
 *   said: (role: string, index: number) => string | null }} PanelOfBars
 */

/**
 * @param {Panel} panel
 * @returns {panel is PanelOfBars}
 */
export const hasBars = (panel) => Boolean(panel.barOf);

/**
 * Makes or calls a panel. A sentence replaces one that fails, which is not called again; the others stay.
 * @template T
 * @param {Panel} panel
 * @param {() => T} act
 * @returns {T | undefined}
 */
export function attempt(panel, act) {
  if (failed.has(panel)) return undefined;
  try {
    return act();
  } catch (fault) {
    console.error(fault);
    failed.add(panel);
    panel.element.hidden = false;
    refill(panel.element, html("span.soft", { role: "status" }, sentenceOf(fault)));
    return undefined;
  }
}

const failed = new WeakSet();

const sentenceOf = (fault) =>
  `This part could not be drawn (${fault?.message ?? fault}): reload the page, and if it stays, report a bug.`;

/**
 * The panel that `make` returns, in the style of its folder; if it fails, one with a sentence.
 * @param {string} kind
 * @param {() => Panel} make
 * @returns {Panel}
 */
export function panelOf(kind, make) {
  /** @type {Panel} */
  const none = { element: html("section"), draw() {} };
  const made = attempt(none, () => {
    const panel = make();
    panel.element.classList.add("panel", kind);
    return panel;
  });
  none.element.classList.add("panel");
  return made ?? none;
}
