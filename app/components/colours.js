// One sequential scale for weights and scores, the same in the light and dark themes.

import { CIVIDIS, DIVERGING, PAPER } from "./constants.js";
import { html } from "./create.js";

function channels(hex) {
  return [1, 3, 5].map((i) => parseInt(hex.slice(i, i + 2), 16));
}

const between = (from, to, share) => from.map((value, i) => Math.round(value + (to[i] - value) * share));
const rgb = (colour) => `rgb(${colour.join(",")})`;

function onScale(share) {
  const place = Math.min(1, Math.max(0, share)) * (CIVIDIS.length - 1);
  const left = Math.min(CIVIDIS.length - 2, Math.floor(place));
  return between(channels(CIVIDIS[left]), channels(CIVIDIS[left + 1]), place - left);
}

export const scaleColour = (share) => rgb(onScale(share));

// Black or white, whichever has more contrast (WCAG 2.2) with a background.
function inkOn(ground) {
  const [red, green, blue] = ground.map((value) => {
    const part = value / 255;
    return part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4;
  });
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue > 0.179 ? "#000" : "#fff";
}

// The background colour of a weight, and the colour of text on it.
export function weightLook(share) {
  const ground = onScale(share);
  return { ground: rgb(ground), ink: inkOn(ground) };
}

// The same for a difference from -1 to 1, in the light and the dark theme: the page's background at zero.
export function differenceLook(share) {
  const own = channels(DIVERGING[share < 0 ? 0 : 1]);
  const grounds = PAPER.map((paper) => between(channels(paper), own, Math.abs(share)));
  return { ground: `light-dark(${grounds.map(rgb)})`, ink: `light-dark(${grounds.map(inkOn)})` };
}

// The upper end of a scale from 0: the largest value, but at least twice the mean, so that nearly equal weights are not
// all painted in the brightest colour. `most`: the largest possible value. Like scale_end in app/panels.
export function scaleEnd(values, most = Infinity) {
  const [largest, sum] = values.reduce(([top, all], value) => [Math.max(top, value), all + value], [1e-9, 0]);
  return Math.max(largest, Math.min(most, (2 * sum) / (values.length || 1)));
}

export function legend(name, low, high, colours = CIVIDIS) {
  const steps = colours.map((colour) => html("i", { style: `background:${colour}` }));
  const bar = html("span.scale", steps);
  return html(
    "div.legend.small.controls",
    html("span", name),
    html("span", html("span", low), bar, html("span", high)),
  );
}
