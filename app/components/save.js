// Figures as SVG and PNG files, made here from what is drawn, with every colour written into the file. Always in the
// light theme: a saved figure goes onto paper and slides.

import { SVG_NAMESPACE, html, linkButton, shorten, svg } from "./elements.js";

const INLINED = [
  "fill",
  "stroke",
  "stroke-width",
  "stroke-opacity",
  "fill-opacity",
  "opacity",
  "font-weight",
  "font-size",
  "stroke-dasharray",
];
const FONT = "'Source Sans 3', 'Source Sans Pro', 'Source Sans', 'Noto Sans', Helvetica, Arial, sans-serif";

// A copy of a drawn SVG whose looks do not need the page's style sheet.
function standalone(source) {
  const copy = source.cloneNode(true);
  const walk = (from, to) => {
    const style = getComputedStyle(from);
    for (const name of INLINED) to.setAttribute(name, style.getPropertyValue(name));
    for (const name of [
      "class",
      "role",
      "tabindex",
      "aria-label",
      "aria-selected",
      "aria-colindex",
      "aria-rowindex",
      "aria-hidden",
    ])
      to.removeAttribute(name);
    Array.from(from.children).forEach((child, i) => walk(child, to.children[i]));
  };
  walk(source, copy);
  return copy;
}

export function place(node, x, y) {
  const group = svg("g", { transform: `translate(${x},${y})` });
  group.append(...Array.from(standalone(node).childNodes));
  return group;
}

export function inkOf(view, name) {
  const probe = html("span", { style: `color:var(--${name})` });
  view.root.append(probe);
  const colour = getComputedStyle(probe).color;
  probe.remove();
  return colour;
}

// Draw with the light colours, then give the page its own theme back.
function inLight(view, make) {
  const before = view.root.style.colorScheme;
  view.root.style.colorScheme = "light";
  try {
    return make();
  } finally {
    view.root.style.colorScheme = before;
  }
}

export function label(x, y, text, attributes) {
  return svg("text", { x, y, "font-size": 14, ...attributes }, text);
}

// Buttons that save a figure: `draw(ink)` gives its width, its height and its elements.
export function saveButtons(view, what, file, draw) {
  return ["SVG", "PNG"].map((kind) =>
    linkButton(kind, `Save the ${what} as ${kind}`, () =>
      inLight(view, () => {
        const ink = inkOf(view, "ink");
        deliver(
          `${typeof file === "function" ? file() : file}${view.data.about ? `-${view.data.about.file}` : ""}`,
          kind,
          ...captioned(view.data.about, ink, ...draw(ink)),
        );
      }),
    ),
  );
}

// The figure with lines below it: what was read, by which model, and its verdict. A figure stands alone in a paper.
function captioned(about, ink, width, height, children) {
  if (!about) return [width, height, children];
  const wide = Math.max(width, 420);
  const lines = about.lines.flatMap((line) => wrapped(line, Math.floor((wide - 24) / 6.3)));
  const caption = lines.map((line, i) => label(12, height + 20 + i * 17, line, { fill: ink, "font-size": 12.5 }));
  return [wide, height + 20 + lines.length * 17, [children, caption].flat()];
}

// A text in lines of up to so many characters.
function wrapped(text, most) {
  const lines = [""];
  for (const word of text.split(" ")) {
    const last = lines.at(-1);
    if (last && Array.from(last).length + Array.from(word).length + 1 > most) lines.push(word);
    else lines[lines.length - 1] = last ? `${last} ${word}` : word;
  }
  return lines.map((line) => shorten(line, most + 8));
}

function deliver(name, kind, width, height, children) {
  const figure = svg(
    "svg",
    { xmlns: SVG_NAMESPACE, width, height, viewBox: `0 0 ${width} ${height}`, "font-family": FONT },
    svg("rect", { width, height, fill: "#ffffff" }),
    children,
  );
  const text = new XMLSerializer().serializeToString(figure);
  const file = `pairlens-${name}.${kind.toLowerCase()}`;
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
