// The four figures of a pair, put together for a file.

function saveMatrix(panel, kind) {
  inLight(panel.view, () => {
    const { left, tall, attention } = panel;
    const across = Number(panel.body.getAttribute("width"));
    const down = Number(panel.body.getAttribute("height"));
    const ink = inkOf(panel.view, "ink");
    const width = Math.max(left + across, 420) + 24;
    const steps = CIVIDIS.map((colour, i) => svg("rect", { x: 62 + i * 14, y: down + tall + 44, width: 14, height: 10, fill: colour }));
    const score = attention.show === "score";
    const ends = [label(12, down + tall + 54, score ? signed(attention.low, 2) : "0 %", { fill: ink }), label(62 + CIVIDIS.length * 14 + 8, down + tall + 54, score ? signed(attention.high, 2) : percent(attention.high), { fill: ink })];
    const title = panel.title() + (attention.show === "column" ? " (columns made to add up to 1: not what the model used)" : score ? " (raw scores)" : "");
    deliver(panel.view, "attention", kind, width, down + tall + 70, [label(12, 22, title, { fill: ink, "font-weight": 600 }),
      place(panel.top, 12 + left, 30), place(panel.side, 12, 30 + tall), place(panel.body, 12 + left, 30 + tall), steps, ends]);
  });
}

function saveText(panel, kind) {
  inLight(panel.view, () => {
    const box = panel.stage.getBoundingClientRect();
    const chips = Object.values(panel.chips).flat().concat(...panel.stage.querySelectorAll(".role"));
    const words = chips.map((chip) => {
      const at = chip.getBoundingClientRect();
      const style = getComputedStyle(chip);
      const isChip = chip.classList.contains("chip");
      const x = at.left - box.left + 10;
      const y = at.top - box.top + 10;
      const frame = isChip ? svg("rect", { x, y, width: at.width, height: at.height, rx: 5, fill: style.backgroundColor, stroke: chip.getAttribute("aria-pressed") === "true" ? inkOf(panel.view, "accent") : "none", "stroke-width": 2 }) : null;
      return [frame, label(x + at.width / 2, y + at.height / 2, chip.textContent, { fill: style.color, "font-size": style.fontSize, "text-anchor": "middle", "dominant-baseline": "central" })];
    });
    deliver(panel.view, "ribbons", kind, Math.ceil(box.width) + 20, Math.ceil(box.height) + 20, [place(panel.svg, 10, 10), words.flat()]);
  });
}

function saveBars(panel, kind) {
  inLight(panel.view, () => {
    const { title, bars } = panel.shown;
    const [ink, colour] = [inkOf(panel.view, "ink"), inkOf(panel.view, "context")];
    const top = Math.max(...bars.map((bar) => bar.weight), 1e-9);
    const lines = bars.map((bar, i) => [label(130, 56 + i * 26, shorten(bar.word, 18), { fill: ink, "text-anchor": "end" }),
      svg("rect", { x: 140, y: 46 + i * 26, width: Math.max(1, (200 * bar.weight) / top), height: 11, rx: 3, fill: colour }),
      label(150 + (200 * bar.weight) / top, 56 + i * 26, percent(bar.weight), { fill: ink })]);
    deliver(panel.view, "context", kind, 420, 64 + bars.length * 26, [label(12, 24, title, { fill: ink, "font-weight": 600 }), lines.flat()]);
  });
}

function saveFilters(panel, kind) {
  inLight(panel.view, () => {
    const ink = inkOf(panel.view, "ink");
    const width = 560 + Math.max(1, panel.classes.length) * 110;
    const names = ["filter", "winning n-gram", "parts", "sum"];
    const at = [12, 70, 300, 500];
    const head = [...names.map((name, i) => label(at[i], 52, name, { fill: ink, "font-size": 12 })), ...panel.classes.map((k, i) => label(640 + i * 110, 52, k.label, { fill: ink, "font-size": 12, "text-anchor": "end" }))];
    const drawn = Array.from(panel.table.querySelectorAll("svg.strip"));
    const lines = panel.shown.map((f, r) => {
      const y = 76 + r * 26;
      const words = panel.ngram(f).flatMap(({ word, centre }, i) => [svg("tspan", {}, i ? " " : ""), svg("tspan", { "font-weight": centre ? 700 : 400 }, shorten(word, 16))]);
      return [label(at[0], y, String(f.index), { fill: ink }), svg("text", { x: at[1], y, fill: ink, "font-size": 14 }, words), place(drawn[r], at[2], y - 12),
        label(at[3], y, signed(f.pre), { fill: ink }), ...f.shares.map((share, i) => label(640 + i * 110, y, signed(share), { fill: ink, "text-anchor": "end" }))];
    });
    const probes = Array.from(panel.table.querySelectorAll(".legend.parts rect"));
    const legend = panel.side.used.map((name, i) => [
      svg("rect", { x: 12 + i * 100, y: 84 + panel.shown.length * 26, width: 11, height: 10, fill: getComputedStyle(probes[i]).fill, stroke: getComputedStyle(probes[i]).stroke }),
      label(28 + i * 100, 93 + panel.shown.length * 26, name, { fill: ink, "font-size": 12 })]);
    deliver(panel.view, "filters", kind, width, 110 + panel.shown.length * 26, [label(12, 24, panel.sides.length > 1 ? `What won the filters that read the ${panel.side.role}` : "What won the filters", { fill: ink, "font-weight": 600 }), head, lines.flat(), legend.flat()].flat());
  });
}
