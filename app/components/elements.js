// Parts of all panels: tables, headings, buttons, and where the keyboard focus goes.

import { fill, html } from "./create.js";

/** @param {Node} node @returns {Document | ShadowRoot} the tree that it is in */
export const treeOf = (node) => /** @type {Document | ShadowRoot} */ (node.getRootNode());

// The element of the page that a view's tree hangs on. None in a saved file.
export function hostOf(node) {
  const tree = treeOf(node);
  return "host" in tree ? tree.host : null;
}

/** @param {ParentNode} node @param {string} selector */
export const foundIn = (node, selector) => /** @type {NodeListOf<HTMLElement>} */ (node.querySelectorAll(selector));

export const focusedIn = (node) => /** @type {HTMLElement | null} */ (treeOf(node).activeElement);

// Replaces the children of a node. Keyboard focus stays on the element with the same data (data-word, …); if that is gone
// or disabled, the first enabled one with data-after gets it.
export function refill(node, ...children) {
  const held = focusedIn(node);
  const data = node.contains(held) ? [...held.attributes].filter(({ name }) => name.startsWith("data-")) : [];
  node.replaceChildren();
  fill(node, {}, children);
  if (!data.length) return;
  const same = data.map(({ name, value }) => `[${name}="${CSS.escape(value)}"]`).join("");
  const next = node.querySelector(`${same}:not(:disabled)`) ?? node.querySelector("[data-after]:not(:disabled)");
  next?.focus({ preventScroll: true });
}

export const table = (head, rows, foot) =>
  html("table.ruled.mid", html("thead.small", html("tr", head)), html("tbody", rows), foot && html("tfoot", foot));

// The index of the largest number.
export const heaviest = (numbers) => numbers.indexOf(Math.max(...numbers));

// The writing direction of a sentence, by its first letter.
export function directionOf(tokens) {
  const [letter] = tokens.join(" ").match(/\p{L}/u) || [];
  return letter && /[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc]/.test(letter) ? "rtl" : "ltr";
}

export const LONG = 28; // words; a longer sentence is set smaller

// A "?" button and the text that it shows and hides.
export function moreOnDemand(more, label) {
  const extra = html("p.more.soft", { hidden: true }, more);
  const mark = html(
    "button.ask.screen",
    {
      "aria-label": label,
      "aria-expanded": "false",
      onclick: () => {
        extra.hidden = !extra.hidden;
        mark.setAttribute("aria-expanded", String(!extra.hidden));
      },
    },
    "?",
  );
  return [mark, extra];
}

// A figure's heading: its title, one line on how to read it, "?" for more, and its save buttons.
export function heading(title, how, more, buttons) {
  const [mark, extra] = more ? moreOnDemand(more, "More about this figure") : [];
  const cut = how.lastIndexOf(" ") + 1; // the mark stays on the last word's line
  const reading = html("p.how.soft", how.slice(0, cut), html("span.together", how.slice(cut), " ", mark));
  const saves = html("span.saves.screen", buttons || []);
  if (!title) return html("header", html("div.headline", reading, saves), extra);
  return html("header", html("div.headline", html("h2", title), saves), reading, extra);
}

// A list of [value, text] to choose from.
export function chooser(options, value, choose, attributes = {}) {
  const select = html(
    "select",
    { ...attributes, onchange: () => choose(select.value) },
    options.map(([own, text]) => html("option", { value: own, selected: String(own) === String(value) }, text)),
  );
  return select;
}

// Words to choose from, each with its number.
export const numbered = (words) => words.map((word, i) => [i, `${i + 1} ${word}`]);

// Makes one of several elements the tab stop.
export function reach(all, one) {
  for (const other of all) other.tabIndex = other === one ? 0 : -1;
}

// The cell of a grid (up to `last`) that a key moves to; null for another key.
export function gridStep(event, [i, j], last, right = 1) {
  const next = {
    ArrowUp: [i - 1, j],
    ArrowDown: [i + 1, j],
    ArrowLeft: [i, j - right],
    ArrowRight: [i, j + right],
    Home: event.ctrlKey ? [0, 0] : [i, 0],
    End: event.ctrlKey ? last : [i, last[1]],
  }[event.key];
  if (!next) return null;
  event.preventDefault();
  return next.map((value, axis) => Math.min(last[axis], Math.max(0, value)));
}

// One button of a group in which one is pressed.
export const choice = (pressed, onclick, ...label) =>
  html("button.choice", { "aria-pressed": pressed, onclick }, label);

export function linkButton(text, label, onclick) {
  return html("button.link", { "aria-label": label, onclick }, text);
}

// A button that shows more or fewer lines of a list of `count`.
export function moreButton(panel, count, first, what) {
  if (count <= first) return null;
  const button = linkButton(
    panel.open ? `Show the first ${first}` : `Show ${count - first} more`,
    `Show more or fewer ${what}`,
    () => {
      panel.open = !panel.open;
      panel.draw();
    },
  );
  button.dataset.name = "more";
  return button;
}
