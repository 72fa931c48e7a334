// One sequential scale for weights and scores, the same in the light and the dark theme.

function channels(hex) {
  return [1, 3, 5].map((i) => parseInt(hex.slice(i, i + 2), 16));
}

function scaleColour(share) {
  const place = Math.min(1, Math.max(0, share)) * (CIVIDIS.length - 1);
  const left = Math.min(CIVIDIS.length - 2, Math.floor(place));
  const from = channels(CIVIDIS[left]);
  const to = channels(CIVIDIS[left + 1]);
  const mixed = from.map((value, i) => Math.round(value + (to[i] - value) * (place - left)));
  return `rgb(${mixed.join(",")})`;
}

function legend(attention) {
  const score = attention.show === "score";
  const ends = score ? [signed(attention.low, 2), signed(attention.high, 2)] : ["0\u00a0%", percent(attention.high > 0.995 ? 1 : attention.high)];
  const bar = html("i", { class: "scale", style: `background:linear-gradient(90deg,${CIVIDIS.join(",")})` });
  return html("div", { class: "legend" }, html("span", {}, score ? "score" : attention.show === "column" ? "share of the column" : "weight"), html("span", {}, ends[0]), bar, html("span", {}, ends[1]));
}
