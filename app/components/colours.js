// One sequential scale for weights and scores, the same in the light and the dark theme.

import { CIVIDIS } from "./constants.js";
import { html, svg } from "./elements.js";
import { label } from "./save.js";

function channels(hex) {
  return [1, 3, 5].map((i) => parseInt(hex.slice(i, i + 2), 16));
}

export function scaleColour(share) {
  const place = Math.min(1, Math.max(0, share)) * (CIVIDIS.length - 1);
  const left = Math.min(CIVIDIS.length - 2, Math.floor(place));
  const from = channels(CIVIDIS[left]);
  const to = channels(CIVIDIS[left + 1]);
  const mixed = from.map((value, i) => Math.round(value + (to[i] - value) * (place - left)));
  return `rgb(${mixed.join(",")})`;
}

export function legend(name, low, high, colours = CIVIDIS) {
  const bar = html("i", { class: "scale", style: `background:linear-gradient(90deg,${colours.join(",")})` });
  return html("div", { class: "legend" }, html("span", {}, name), html("span", {}, low), bar, html("span", {}, high));
}

// The same for a saved figure, at this height.
export function savedLegend(y, low, high, ink, colours = CIVIDIS) {
  return [
    label(12, y + 10, low, { fill: ink }),
    colours.map((colour, i) => svg("rect", { x: 62 + i * 14, y, width: 14, height: 10, fill: colour })),
    label(62 + colours.length * 14 + 8, y + 10, high, { fill: ink }),
  ].flat();
}
