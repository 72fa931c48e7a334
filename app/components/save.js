// Figures as SVG and PNG files: redrawn from the page, with all colours and positions written into the file. Always in
// the light theme: saved figures are for paper and slides.

import { SVG_NAMESPACE, fill, html, svg } from "./create.js";
import { linkButton } from "./elements.js";

const INLINED = [
  "fill",
  "stroke",
  "stroke-width",
  "stroke-opacity",
  "fill-opacity",
  "opacity",
  "font-weight",
  "font-size",
  "font-style",
  "text-anchor",
  "dominant-baseline",
  "stroke-dasharray",
  "stroke-dashoffset",
  "stroke-linejoin",
  "paint-order",
];
const OF_PAGES = /^(class|role|tabindex|style|data-.*|aria-.*)$/;
const FONT = "'Source Sans 3', 'Source Sans Pro', 'Source Sans', 'Noto Sans', Helvetica, Arial, sans-serif";
const CLEAR = "rgba(0, 0, 0, 0)";
const MARGIN = 12;

// A mixed colour in a form that other programs read.
function plain(colour) {
  const mixed = /^color\(srgb (\S+) (\S+) (\S+)\)$/.exec(colour);
  return mixed ? `rgb(${mixed.slice(1).map((share) => Math.round(255 * Number(share)))})` : colour;
}

// A copy of a drawn SVG that does not need the page's style sheet.
function standalone(source) {
  const copy = source.cloneNode(true);
  const walk = (from, to) => {
    const style = getComputedStyle(from);
    for (const name of INLINED) to.setAttribute(name, plain(style.getPropertyValue(name)));
    for (const { name } of [...to.attributes]) if (OF_PAGES.test(name)) to.removeAttribute(name);
    Array.from(from.children).forEach((child, i) => walk(child, to.children[i]));
  };
  walk(source, copy);
  return copy;
}

// The lines of a wrapped text, within one text node.
function linesOf(node) {
  const range = document.createRange();
  const lines = [];
  for (const { 0: word, index } of node.data.matchAll(/\S+/g)) {
    range.setStart(node, index);
    range.setEnd(node, index + word.length);
    const { left, right, top, bottom } = range.getBoundingClientRect();
    const last = lines.at(-1);
    if (last?.top === top) {
      last.text += ` ${word}`;
      last.left = Math.min(last.left, left);
      last.right = Math.max(last.right, right);
    } else lines.push({ text: word, left, right, top, bottom });
  }
  return lines;
}

// Background and border of an element.
function boxOf(style, { x, y, width, height }) {
  const rect = (colour, more) =>
    colour === CLEAR ? null : svg("rect", { x, y, width, height, fill: plain(colour), ...more });
  const rx = parseFloat(style.borderTopLeftRadius);
  const corners = [`${x},${y}`, `${x + width},${y}`, `${x + width},${y + height}`, `${x},${y + height}`];
  const looks = ["Top", "Right", "Bottom", "Left"].map((edge) => ({
    stroke: style[`border${edge}Color`],
    "stroke-width": parseFloat(style[`border${edge}Width`]),
  }));
  const drawn = looks.map((look) => look.stroke !== CLEAR && look["stroke-width"] > 0);
  const edges = looks.map(
    (look, i) => drawn[i] && svg("path", { ...look, d: `M${corners[i]}L${corners[(i + 1) % 4]}` }),
  );
  return [rect(style.backgroundColor, { rx }), ...(drawn.every(Boolean) ? [rect("none", { rx, ...looks[0] })] : edges)];
}

// The outline of an element, above all others.
function outlineOf(style, { x, y, width, height }) {
  if (style.outlineStyle === "none") return null;
  const look = { stroke: style.outlineColor, "stroke-width": style.outlineWidth, rx: style.borderTopLeftRadius };
  const dashes = style.outlineStyle === "dashed" ? "4 3" : null;
  return svg("rect", { x, y, width, height, fill: "none", "stroke-dasharray": dashes, ...look });
}

// The visible content of an element, and its extent to the right and down.
function drawn(root) {
  const origin = root.getBoundingClientRect();
  const [right, down] = [MARGIN - origin.left, -origin.top];
  const [parts, outlines] = [[], []];
  let [width, height] = [0, 0];
  const add = (box, part) => {
    parts.push(part);
    width = Math.max(width, box.right + right);
    height = Math.max(height, box.bottom + down);
  };
  const walk = (node) => {
    const style = getComputedStyle(node);
    const box = node.getBoundingClientRect();
    if (style.display === "none" || style.visibility === "hidden") return;
    const place = { x: box.left + right, y: box.top + down, width: box.width, height: box.height };
    if (node instanceof SVGElement) return add(box, fill(standalone(node), { ...place, overflow: style.overflow }, []));
    add(box, boxOf(style, place));
    outlines.push(outlineOf(style, place));
    const letters = {
      fill: style.color,
      "font-size": style.fontSize,
      "font-weight": style.fontWeight,
      "font-style": style.fontStyle,
      "text-anchor": "middle",
      "dominant-baseline": "central",
      lengthAdjust: "spacingAndGlyphs", // as wide as on the page, whatever the font
    };
    for (const child of node.childNodes) {
      if (child instanceof Element) walk(child);
      else
        for (const line of linesOf(child)) {
          const [x, y] = [(line.left + line.right) / 2 + right, (line.top + line.bottom) / 2 + down];
          add(line, svg("text", { x, y, textLength: line.right - line.left, ...letters }, line.text));
        }
    }
  };
  walk(root);
  return { parts: [parts, outlines], width, height };
}

// Saves a figure. `figure()` returns the file name, the title and the elements to show, from top to bottom (and
// `about`, if it is not the view's own). Screen-only parts are left out, and nothing is cut off.
export function saveFigure(view, kind, figure) {
  view.root.classList.add("saving");
  try {
    const { file, title, elements, about = view.data.about } = figure();
    deliver(
      nameOf(file, about),
      kind,
      ...captioned(view.root, title, elements, [...(about?.lines ?? []), view.conclusion].filter(Boolean)),
    );
  } finally {
    view.root.classList.remove("saving");
  }
}

// Buttons that save a figure; on a view that gathers its figures in one place, a mark by which they are found.
export function saveButtons(view, what, figure) {
  if (view.gathers) return Object.assign(html("span", { "data-figure": what, hidden: true }), { figure });
  const [image, picture] = ["SVG", "PNG"].map((kind) =>
    linkButton(kind, `Save the ${what} as ${kind}`, () => saveFigure(view, kind, figure)),
  );
  return html("span.together", image, "\u2002", picture);
}

const nameOf = (file, about) => `pairlens-${file}${about ? `-${about.file}` : ""}`;

/**
 * Buttons that save the numbers of a figure.
 * @param {string} what
 * @param {string} file
 * @param {{ csv: string } & object} record whose other fields are the JSON file
 * @param {import("./payloads").About} about
 */
export function dataButtons(what, file, { csv, ...record }, about) {
  const save = (kind, text, type) => {
    const source = new Blob([text], { type });
    return linkButton(kind, `Save the numbers of ${what} as ${kind}`, () =>
      download(source, `${nameOf(file, about)}.${kind.toLowerCase()}`),
    );
  };
  const marked = `\ufeff${csv}`; // the mark by which Excel reads it as UTF-8
  const json = JSON.stringify(record, null, 1);
  return html("span.together", save("CSV", marked, "text/csv"), "\u2002", save("JSON", json, "application/json"));
}

// The figure with its title, and lines below it: the texts, the model, its verdict, and the reason. It can be used in a
// paper as it is.
function captioned(root, title, elements, about) {
  const figures = elements.map(drawn);
  const width = Math.max(480, ...figures.map((figure) => Math.ceil(figure.width) + MARGIN));
  const note = (texts, weight) => {
    const style = `position:absolute;width:${width - 2 * MARGIN}px;font:${weight} 13px ${FONT}`;
    const lines = texts.map((text) => html("p", text));
    const element = html("div", { style }, lines);
    root.append(element);
    const made = drawn(element);
    element.remove();
    return made;
  };
  let y = MARGIN;
  const parts = [note([title], 600), ...figures, note(about, 400)].map((part) => {
    const placed = svg("g", { transform: `translate(0,${y})` }, part.parts);
    y += Math.ceil(part.height) + MARGIN;
    return placed;
  });
  return [width, y, parts];
}

function deliver(name, kind, width, height, children) {
  const figure = svg(
    "svg",
    { xmlns: SVG_NAMESPACE, width, height, viewBox: `0 0 ${width} ${height}`, "font-family": FONT },
    svg("rect", { width, height, fill: "#ffffff" }),
    children,
  );
  const text = new XMLSerializer().serializeToString(figure);
  const file = `${name}.${kind.toLowerCase()}`;
  const source = new Blob([text], { type: "image/svg+xml" });
  if (kind === "SVG") return download(source, file);
  const image = new Image();
  image.onload = () => {
    const canvas = document.createElement("canvas");
    const scale = Math.min(2, 8000 / Math.max(width, height));
    canvas.width = width * scale;
    canvas.height = height * scale;
    canvas.getContext("2d").drawImage(image, 0, 0, canvas.width, canvas.height);
    canvas.toBlob((blob) => download(blob, file), "image/png");
  };
  image.src = `data:image/svg+xml;charset=utf-8,${encodeURIComponent(text)}`;
}

function download(blob, file) {
  const url = URL.createObjectURL(blob);
  html("a", { href: url, download: file }).click();
  setTimeout(() => URL.revokeObjectURL(url), 10000);
}
