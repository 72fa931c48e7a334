// Creates elements. Text is set through text nodes only, so that typed text can never become markup.

export const SVG_NAMESPACE = "http://www.w3.org/2000/svg";

/** @typedef {Node | string | number | boolean | null | undefined | Child[]} Child of an element; null and false are left out */

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
