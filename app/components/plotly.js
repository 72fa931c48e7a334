// Saves a Plotly figure like all others: light in either theme, what it shows in lines below it, no raster inside.

const CAMERA = '.modebar-btn[data-title^="Download plot"]';
const CAPTION = { size: 12.5, line: 17, least: 640 };
const SAVED_FONT = "'Noto Sans', Helvetica, Arial, sans-serif"; // a file does not have the page's own

// What a dark theme wrote into a part of the figure, in the light theme's colours.
function lightened(part, colours) {
  const text = Object.entries(colours).reduce((all, [dark, light]) => all.replaceAll(new RegExp(dark, "gi"), light), JSON.stringify(part));
  return JSON.parse(text);
}

// A colour of a scale of rgba() steps.
function between(scale, share) {
  const right = Math.max(1, scale.findIndex(([at]) => at >= share));
  const [[low, from], [high, to]] = [scale[right - 1], scale[right]].map(([at, colour]) => [at, colour.match(/[\d.]+/g).map(Number)]);
  const part = (share - low) / (high - low);
  return `rgba(${from.map((value, i) => value + (to[i] - value) * part).join(",")})`;
}

// A heatmap's cells as shapes, and a trace without marks that has its scale.
function unrastered(trace, colours) {
  const { x, y, z, zmin, zmax, colorscale } = trace;
  const shapes = Array.from(z).flatMap((row, i) => Array.from(row).map((value, j) => ({
    type: "rect", layer: "below", x0: j + 0.5, x1: j + 1.5, y0: i - 0.5, y1: i + 0.5, line: { width: 0 }, fillcolor: between(colorscale, (value - zmin) / (zmax - zmin)) })));
  const marker = { color: Array.from(y, () => 0), cmin: zmin, cmax: zmax, colorscale, showscale: true, colorbar: lightened(trace.colorbar, colours), opacity: 0 };
  return { shapes, trace: { type: "scatter", mode: "markers", x: Array.from(x).slice(0, y.length), y, marker }, ranges: { x: [0.5, x.length + 0.5], y: [y.length - 0.5, -0.5] } };
}

const asText = (line) => line.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");

// Plotly's own camera draws what stands in the figure's data and layout while it is pressed.
function saveFigure(figure, kind, { file, lines, colours, ink }) {
  const { data, layout, _context: context } = figure;
  const options = context.toImageButtonOptions;
  const width = Math.max(CAPTION.least, figure.clientWidth);
  const caption = lines.flatMap((line) => wrapped(line, Math.floor((width - 24) / 6.3))).map(asText);
  const more = 24 + CAPTION.line * caption.length;
  const height = figure.clientHeight + more;
  const light = lightened(layout, colours);
  const title = { text: caption.join("<br>"), x: 0, xref: "container", xanchor: "left", y: (more - 8) / height, yref: "container", yanchor: "top", pad: { l: 12 }, font: { size: CAPTION.size, color: ink, weight: "normal", family: SAVED_FONT }, automargin: false };
  const font = { ...light.font, color: ink, family: SAVED_FONT };
  const saved = { ...light, title, font, paper_bgcolor: "#ffffff", plot_bgcolor: "#ffffff", legend: { ...light.legend, font: { ...light.legend?.font, color: ink } }, margin: { ...light.margin, b: (light.margin?.b || 0) + more } };
  // A heatmap is a raster inside of an SVG file.
  const traces = data.map((trace) => {
    if (trace.type !== "heatmap") return trace;
    const drawn = unrastered(trace, colours);
    saved.shapes = drawn.shapes;
    for (const axis of ["x", "y"]) saved[`${axis}axis`] = { ...saved[`${axis}axis`], autorange: false, range: drawn.ranges[axis] };
    return drawn.trace;
  });
  try {
    Object.assign(figure, { data: traces, layout: saved });
    context.toImageButtonOptions = { format: kind.toLowerCase(), filename: `pairlens-${file}`, scale: 2, width, height };
    figure.querySelector(CAMERA).click();
  } finally {
    Object.assign(figure, { data, layout });
    context.toImageButtonOptions = options;
  }
}

export default function ({ parentElement, data }) {
  const root = parentElement.querySelector(".pairlens");
  root.classList.toggle("projector", Boolean(data.projector));
  // The figure stands in the same column.
  const figure = () => root.getRootNode().host.closest('[data-testid="stVerticalBlock"]').querySelector(`.st-key-${data.figure} .js-plotly-plot`);
  root.replaceChildren(html("div", { class: "saves-alone" }, ["SVG", "PNG"].map((kind) => linkButton(kind, `Save the ${data.what} as ${kind}`, () => saveFigure(figure(), kind, data)))));
}
