// The verdict: class and percentage, a stacked bar with labels, and the verdict on the judged sentence alone.

function drawVerdict(verdict, notices) {
  const best = verdict.classes.find((c) => c.label === verdict.label);
  const { bar, key } = sharesOf(verdict.classes, best);
  const alone = verdict.alone
    ? html("span", { class: "alone", title: verdict.alone.model }, `On the ${verdict.judged} alone: `, html("b", {}, `${verdict.alone.label} ${percent(verdict.alone.p)}`))
    : null;
  return html("section", { class: "verdict", "aria-label": "Verdict" },
    html("div", {}, html("div", { class: "said", "data-part": "verdict" }, `${capital(verdict.label)}, ${percent(best.p)}`),
      html("div", { class: "model" }, html("bdi", {}, verdict.model))),
    html("div", { class: "shares" }, bar, html("div", { class: "under" }, key, alone)),
    drawNotices(notices));
}
