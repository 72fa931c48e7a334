// The verdict: class and percentage, a stacked bar with labels, and the verdict on the judged sentence alone.

function drawVerdict(verdict, notices) {
  const best = verdict.classes.find((c) => c.label === verdict.label);
  const colour = (c) => `background:light-dark(${c.light},${c.dark})`;
  const summary = verdict.classes.map((c) => `${c.label} ${percent(c.p)}`).join(", ");
  const bar = html("div", { class: "bar", role: "img", "aria-label": summary },
    verdict.classes.map((c) => html("i", { style: `width:${100 * c.p}%;${colour(c)}`, title: `${c.label} ${exactPercent(c.p)}` })));
  const key = html("div", { class: "key" }, verdict.classes.map((c) =>
    html("span", { class: c === best ? "best" : null, title: exactPercent(c.p) }, html("i", { style: colour(c) }), `${c.label} ${percent(c.p)}`)));
  const alone = verdict.alone
    ? html("span", { class: "alone", title: verdict.alone.model }, `On the ${verdict.judged} alone: `, html("b", {}, `${verdict.alone.label} ${percent(verdict.alone.p)}`))
    : null;
  return html("section", { class: "verdict", "aria-label": "Verdict" },
    html("div", { class: "said", "data-part": "verdict" }, `${capital(verdict.label)}, ${percent(best.p)}`),
    html("div", { class: "shares" }, bar, html("div", { class: "under" }, key, alone)),
    drawNotices(notices));
}

function drawNotices(notices) {
  if (!notices || !notices.length) return null;
  return html("ul", { class: "notices", role: "status" }, notices.map((text) => html("li", {}, text)));
}
