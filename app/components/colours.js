// One sequential scale for weights and scores, the same in the light and the dark theme.

import { CIVIDIS } from "./constants.js";
import { html } from "./elements.js";

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
  const bar = html("i.scale", { style: `background:linear-gradient(90deg,${colours.join(",")})` });
  return html("div.legend.small.controls", html("span", name), html("span", low), bar, html("span", high));
}
