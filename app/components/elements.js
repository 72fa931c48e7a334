// Creates elements. Text is set through text nodes only, so that typed text can never become markup.

export const SVG_NAMESPACE = "http://www.w3.org/2000/svg";

/** @typedef {Node | string | number | boolean | null | undefined | Child[]} Child of an element; null and false are left out */

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

export function fill(node, attributes, children) {
  for (const [name, value] of Object.entries(attributes)) {
    const spoken = name.startsWith("aria-") && typeof value === "boolean"; // written out when false, too
    if ((value ?? false) === false && !spoken) continue;
    if (name.startsWith("on")) node.addEventListener(name.slice(2), value);
    else node.setAttribute(name, value === true && !spoken ? "" : String(value));
  }
  node.append(...children.flat(Infinity).filter((child) => (child ?? false) !== false));
  return node;
}

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

// An element from "tag.class.class", its attributes (optional) and its children; null and false are left out.
const make =
  (namespace) =>
  (selector, ...rest) => {
    const [tag, ...classes] = selector.split(".");
    const attributes = rest[0]?.constructor === Object ? rest.shift() : {};
    if (attributes.class) classes.push(attributes.class);
    const defaults = { class: classes.join(" ") || null, type: tag === "button" ? "button" : null };
    return fill(document.createElementNS(namespace, tag), { ...defaults, ...attributes, class: defaults.class }, rest);
  };

export const html = make("http://www.w3.org/1999/xhtml");
export const svg = make(SVG_NAMESPACE);

export const table = (head, rows, foot) =>
  html("table.ruled.mid", html("thead.small", html("tr", head)), html("tbody", rows), foot && html("tfoot", foot));

// With as many digits as a share needs: 46 %, 4.6 %, 99.6 %, < 0.1 %; the rule of `percent` in core/wording.py.
export function percent(share) {
  const value = 100 * share;
  if (value > 0 && value < 0.1) return "< 0.1\u00a0%";
  if (value > 99.9 && value < 100) return "> 99.9\u00a0%";
  const digits = (value < 9.95 && value > 0) || (value >= 99.5 && value < 100) ? 1 : 0;
  return `${value.toFixed(digits)}\u00a0%`;
}

export function exactPercent(share) {
  const value = Number((100 * share).toPrecision(4));
  return value === 100 && share < 1 ? percent(share) : `${value}\u00a0%`;
}

// A signed number with a true minus sign; `digits` after the point.
export function signed(value, digits = 3) {
  const text = Math.abs(value).toFixed(digits);
  if (Number(text) === 0) return text;
  return (value < 0 ? "\u2212" : "+") + text;
}

// The index of the largest number.
export const heaviest = (numbers) => numbers.indexOf(Math.max(...numbers));

export const capital = (text) => text.charAt(0).toUpperCase() + text.slice(1);
// A role in a sentence: "the premise", but "question 2", which is a name.
export const the = (role) => (/\d$/.test(role) ? role : `the ${role}`);
export const shorten = (text, limit) =>
  Array.from(text).length > limit
    ? Array.from(text)
        .slice(0, limit - 1)
        .join("") + "…"
    : text;
// The writing direction of a sentence, by its first letter.
export function directionOf(tokens) {
  const [letter] = tokens.join(" ").match(/\p{L}/u) || [];
  return letter && /[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc]/.test(letter) ? "rtl" : "ltr";
}

export const LONG = 28; // words; a longer sentence is set smaller
export const plural = (count, one, many) => `${count} ${count === 1 ? one : many}`;

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
