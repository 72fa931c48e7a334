// The user's own texts on the filter map. Streamlit draws the reference texts and the first texts with Plotly as a figure
// that stays the same; this script draws traces for later texts, so that the zoom and hidden classes survive a new text.

import { heading, html, linkButton } from "./elements.js";
import { VIEWS, View } from "./view.js";

const CHART = ".st-key-filter-map-chart .js-plotly-plot";
const LIGHT = { paper_bgcolor: "#ffffff", plot_bgcolor: "#ffffff", font: { color: "#1d2733", family: "Arial" } };
const LINE = 18; // pixels of a caption's line
const SETTLED = 50; // milliseconds after a change of the page: keeps Streamlit and this script from redrawing in a loop
const MOST_RESETS = 20; // limit of redraws of the same texts after Streamlit

const escaped = (text) => text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");

// Lines of at most `most` characters.
const wrapped = (text, most) => text.match(new RegExp(`.{1,${most}}(?=\\s|$)|\\S{${most}}`, "g")) ?? [];

/** @extends {View<import("./payloads").Drawn["filterMap"] & { about: import("./payloads").About }>} */
class FilterMapView extends View {
  /** @type {any} */
  pending = null;

  build() {
    const { reading, meaning } = this.data;
    const more = `${meaning} Drag the map to move it; the buttons at its upper right zoom, reset and enlarge it. Click a name below the map, or press Enter on it, to hide that class or show it again.`;
    const saves = ["SVG", "PNG"].map((format) =>
      linkButton(format, `Save the filter map as ${format}`, () => this.save(format.toLowerCase())),
    );
    return heading("", reading, more, html("span.together", saves[0], "\u2002", saves[1]));
  }

  start() {
    super.start();
    // Streamlit draws the chart after this view, and again for another map.
    this.arrivals = new MutationObserver(() => {
      this.pending ??= setTimeout(() => {
        this.pending = null;
        this.draw();
      }, SETTLED);
    });
    this.arrivals.observe(document.body, { childList: true, subtree: true });
  }

  end() {
    this.arrivals.disconnect();
    clearTimeout(this.pending);
    super.end();
  }

  /** @returns {any} the chart element with Plotly's properties */
  get chart() {
    return document.querySelector(CHART);
  }

  draw() {
    const { chart } = this;
    if (!chart?._fullLayout?.xaxis || !this.data) return;
    this.nameLegend(chart);
    const { inspected, home, near, traces, mark } = this.data;
    const has = (/** @type {string} */ of) => chart.data.some(({ meta }) => meta === of);
    const view = near ? String(home) : "whole";
    const tapped = matchMedia("(pointer: coarse)").matches;
    if (!chart.mark && has(mark) && !tapped) Object.assign(chart, { mark, view, resets: 0 }); // as Streamlit drew it
    // While the chart is new, Streamlit may draw its earlier state once more.
    const reset = traces.length > 0 && !has(chart.mark);
    if (chart.mark !== mark) chart.resets = 0;
    else if (!reset || ++chart.resets > MOST_RESETS) return;
    chart.mark = mark;
    const { xaxis, yaxis } = chart._fullLayout;
    const outside = ([low, high], value) => value < low || value > high;
    const unseen = inspected && (outside(xaxis.range, inspected[0]) || outside(yaxis.range, inspected[1]));
    const [x, y] = unseen || reset || chart.view !== view ? home : [xaxis.range, yaxis.range];
    chart.view = view;
    const layout = {
      ...chart.layout,
      xaxis: { ...chart.layout.xaxis, range: x },
      yaxis: { ...chart.layout.yaxis, range: y },
    };
    if (tapped) this.readTaps(chart, layout);
    window.Plotly.react(chart, [...chart.data.filter(({ meta }) => !meta), ...structuredClone(traces)], layout);
    chart.emit("plotly_redraw"); // makes Streamlit store the figure
  }

  // A swipe scrolls the page; a tap shows a point's label: after the tap's own events, which hide labels.
  readTaps(chart, layout) {
    layout.dragmode = false;
    chart.removeAllListeners("plotly_click");
    chart.on("plotly_click", ({ points }) => setTimeout(() => window.Plotly.Fx.hover(chart, points), 300));
  }

  // Plotly's legend only supports the pointer.
  nameLegend(chart) {
    for (const entry of chart.querySelectorAll(".legendtoggle:not([tabindex])")) {
      const name = entry.parentNode.querySelector("text").textContent;
      entry.setAttribute("tabindex", "0");
      entry.setAttribute("role", "button");
      entry.setAttribute("aria-label", `Hide or show: ${name}`);
      entry.addEventListener("keydown", ({ key }) => {
        if (key !== "Enter") return;
        const group = chart._fullData.filter((trace) => trace.legendgroup === name || trace.name === name);
        const visible = group.some((trace) => trace.visible === true) ? "legendonly" : true;
        window.Plotly.restyle(
          chart,
          { visible },
          group.map(({ index }) => index),
        );
      });
    }
  }

  // On a white background, with a caption of the texts read.
  save(format) {
    const { chart } = this;
    const { file, lines } = this.data.about;
    const { width, height } = chart._fullLayout;
    const caption = lines.flatMap((line) => wrapped(line, Math.floor(width / 6.5))).map(escaped);
    const text = {
      text: caption.join("<br>"),
      x: 0,
      xanchor: "left",
      y: 1,
      yanchor: "bottom",
      xref: "paper",
      yref: "paper",
      align: "left",
      showarrow: false,
      font: { size: 12 },
    };
    const margin = { l: 8, r: 8, b: 8, t: (caption.length + 1) * LINE };
    const layout = { ...chart.layout, ...LIGHT, margin, annotations: [text], width, height: height + margin.t };
    window.Plotly.downloadImage(
      { data: chart.data, layout },
      { format, filename: `pairlens-filter-map-${file}`, width, height: layout.height },
    );
  }
}

VIEWS.filterMap = (root) => new FilterMapView(root);
