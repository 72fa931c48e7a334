"""Figures of Compare as static HTML; every text of a person is escaped."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from html import escape

from app.comparison import Difference, Looks
from app.palette import CIVIDIS, PAPER, readable_on
from app.panels.verdict import classes, percent
from core.evidence import Explanation
from core.evidence.attention_map import NO_WORD

STYLE = """<style>
:is(.pl-compare, .pl-differences) { display: grid; gap: 1.4rem;
  grid-template-columns: repeat(auto-fit, minmax(min(100%, 285px), 1fr)); }
:is(.pl-compare, .pl-differences):has(> section:nth-child(4)) {
  grid-template-columns: repeat(auto-fit, minmax(min(100%, 400px), 1fr)); }
.pl-compare section, .pl-differences section { min-width: 0; }
:is(.pl-compare, .pl-differences) h2 { font-size: 1.02rem; font-weight: 650; margin: 0; padding: 0;
  overflow-wrap: anywhere; }
.pl-compare p, .pl-differences p { margin: 0.15rem 0 0.4rem; font-size: 0.86rem; color: var(--pl-soft); }
.pl-compare .pl-said { font-size: 1.25rem; font-weight: 650; color: var(--pl-ink); margin: 0.2rem 0; }
.pl-share { display: flex; height: 12px; border-radius: 6px; overflow: hidden; gap: 1px; }
.pl-share i { display: block; min-width: 1px; }
.pl-compare ul { display: flex; flex-wrap: wrap; gap: 0 1rem; list-style: none; margin: 0.25rem 0 0.5rem; padding: 0;
  font-size: 0.86rem; }
.pl-compare li { margin: 0; }
.pl-compare li i { display: inline-block; width: 10px; height: 10px; border-radius: 2px; margin-right: 0.35rem; }
.pl-words { font-size: 0.95rem !important; color: var(--pl-ink) !important; line-height: 1.7; overflow-wrap: anywhere; }
.pl-words mark { background: none; color: inherit; font-weight: 650; border-bottom: 3px solid var(--pl-accent); }
.pl-words b { font-weight: 400; border-radius: 3px; padding: 1px 3px; }
/* A long pair scrolls inside its frame, words along both edges. */
.pl-scroll { overflow: auto; max-width: 100%; max-height: 36rem; scrollbar-width: thin; }
.pl-scroll thead { position: sticky; top: 0; z-index: 2; background: var(--pl-paper); }
.pl-scroll table { border-collapse: separate; border-spacing: 1px; font-variant-numeric: tabular-nums; width: auto;
  margin: 0; font-size: 0.78rem; }
.pl-scroll :is(th, td) { border: 0; padding: 0; line-height: 1.2; }
.pl-scroll thead th { writing-mode: vertical-rl; transform: rotate(180deg); text-align: left; font-weight: 400;
  padding: 3px 4px 0; max-height: 8rem; overflow: hidden; white-space: nowrap; }
.pl-scroll thead td { min-width: 3rem; }
.pl-scroll tbody th { font-weight: 400; text-align: right; padding-right: 6px; white-space: nowrap; position: sticky;
  left: 0; background: var(--pl-paper); max-width: 9rem; overflow: hidden; text-overflow: ellipsis; }
.pl-scroll tbody td { width: 26px; min-width: 26px; height: 24px; text-align: center; border-radius: 2px; }
.pl-scroll .pl-none { font-style: italic; color: var(--pl-soft); }
.pl-scroll .pl-absent { visibility: hidden; }
.pl-scroll .pl-mean :is(th, td) { padding-top: 4px; font-weight: 650; }
.pl-agree table { font-size: 0.9rem; border-spacing: 0; }
.pl-agree thead th { writing-mode: horizontal-tb; transform: none; padding: 0 0 4px 1.2rem; white-space: normal;
  vertical-align: bottom; color: var(--pl-soft); max-width: 12rem; text-align: right; }
.pl-agree tbody td { text-align: right; padding: 2px 0 2px 1.2rem; width: auto; }
@media (max-width: 760px) { .pl-scroll { max-height: 60vh; } }
.pl-key { display: flex; flex-wrap: wrap; align-items: center; gap: 4px 10px; font-size: 0.82rem; color: var(--pl-soft);
  margin: 0.5rem 0; }
.pl-key i { display: inline-block; width: 150px; height: 9px; border-radius: 2px; }
</style>"""

PROJECTED = """<style>
.pl-scroll table { font-size: 0.85rem; }
.pl-scroll { max-height: 85vh; }
.pl-scroll tbody td { width: 56px; min-width: 56px; height: 56px; }
:is(.pl-compare, .pl-differences) { grid-template-columns: repeat(auto-fit, minmax(min(100%, 560px), 1fr)) !important; }
</style>"""
"""For a room full of people."""

_IN_SIGHT = 18
"""Words of a matrix that need no scrolling."""
_LESS, _MORE = (36, 100, 176), (176, 108, 10)
"""Blue and orange of app.palette.DIVERGING, which every eye tells apart."""


def attention_colour(share: float) -> tuple[str, str]:
    """Ground and ink of a weight from 0 to 1 of the scale, on cividis as on the page Explore."""
    place = min(1.0, max(0.0, share)) * (len(CIVIDIS) - 1)
    left = min(len(CIVIDIS) - 2, int(place))
    mixed = [
        round(low + (high - low) * (place - left))
        for low, high in zip(_channels(CIVIDIS[left]), _channels(CIVIDIS[left + 1]), strict=True)
    ]
    return f"rgb({','.join(map(str, mixed))})", readable_on(mixed)


def _over(paper: str, colour: Sequence[int], share: float) -> list[int]:
    """The colour on the paper, of which the rest shows."""
    return [round(share * own + (1 - share) * below) for own, below in zip(colour, _channels(paper), strict=True)]


def _channels(colour: str) -> list[int]:
    return [int(colour[at : at + 2], 16) for at in (1, 3, 5)]


def column(
    title: str, explanation: Explanation, names: Sequence[str], facts: Sequence[str], body: Sequence[str]
) -> str:
    """One model, or version: its verdict, its numbers, and what it looks at."""
    shares = classes(names, explanation.probabilities)
    bar = "".join(
        f'<i style="width:{100 * share["p"]:.2f}%;background:light-dark({share["light"]},{share["dark"]})"></i>'
        for share in shares
    )
    key = "".join(
        f'<li><i style="background:light-dark({share["light"]},{share["dark"]})"></i>{escape(share["label"])} '
        f"{percent(share['p'])}</li>"
        for share in shares
    )
    best = explanation.labels.index(explanation.verdict)
    said = f"{names[best][:1].upper()}{names[best][1:]}, {percent(explanation.probabilities[best])}"
    return (
        f'<section><h2>{escape(title)}</h2><div class="pl-said">{escape(said)}</div><div class="pl-share">{bar}</div>'
        f"<ul>{key}</ul><p>{escape(' · '.join(facts))}</p>{''.join(body)}</section>"
    )


def problem(title: str, sentence: str) -> str:
    """A model that cannot be shown, and why."""
    return f"<section><h2>{escape(title)}</h2><p>{escape(sentence)}</p></section>"


def grid(sections: Sequence[str], kind: str = "pl-compare") -> str:
    """Sections side by side, below each other where there is no room."""
    return f'<div class="{kind}">{"".join(sections)}</div>'


def sentence(words: Sequence[str], marked: Collection[int]) -> str:
    """A sentence whose changed words are marked."""
    shown = (f"<mark>{escape(word)}</mark>" if i in marked else escape(word) for i, word in enumerate(words))
    return f'<p class="pl-words" dir="auto">{" ".join(shown)}</p>'


def strip(words: Sequence[str], shares: Sequence[float]) -> str:
    """A sentence whose words are shaded by how much they count in pooling."""
    high = max(*shares, 1e-9)
    shown = []
    for word, share in zip(words, shares, strict=True):
        ground, ink = attention_colour(share / high)
        shown.append(f'<b style="background:{ground};color:{ink}" title="{percent(share)}">{escape(word)}</b>')
    return f'<p class="pl-words" dir="auto">{" ".join(shown)}</p>'


def matrix(looks: Looks, high: float, null: bool, caption: str) -> str:
    """Weights in per cent, ``high`` the end of the scale. ``null``: whether there is a column for the null word."""
    absent = null and looks.columns[-1] != NO_WORD
    rows = [
        [_weight(weight, high, name, row) for weight, name in zip(weights, looks.columns, strict=True)]
        + ["<td></td>"] * absent
        for row, weights in zip(looks.rows, looks.weights, strict=True)
    ]
    return _table(looks.rows, looks.columns, rows, caption, absent)


def _weight(weight: float, high: float, column: str, row: str) -> str:
    ground, ink = attention_colour(weight / high)
    return (
        f'<td style="background:{ground};color:{ink}" title="{escape(row)} to {escape(column)}: {percent(weight)}">'
        f"{100 * weight:.0f}</td>"
    )


def differences(drawn: Difference, high: float, caption: str) -> str:
    """Signed differences in per cent: orange where the first gives more, blue where it gives less."""
    rows = []
    for row, values in zip(drawn.rows, drawn.weights, strict=True):
        cells = []
        for value, name in zip(values, drawn.columns, strict=True):
            share = min(1.0, abs(value) / high)
            grounds = [_over(paper, _MORE if value > 0 else _LESS, share) for paper in PAPER]
            light, dark = (f"rgb({','.join(map(str, ground))})" for ground in grounds)
            inks = ",".join(map(readable_on, grounds))
            number = f"{100 * value:+.0f}".replace("-", "−") if abs(value) >= 0.005 else ""
            cells.append(
                f'<td style="background:light-dark({light},{dark});color:light-dark({inks})" '
                f'title="{escape(row)} to {escape(name)}">{number}</td>'
            )
        rows.append(cells)
    return _table(drawn.rows, drawn.columns, rows, caption)


def _table(
    names: Sequence[str], columns: Sequence[str], rows: Sequence[Sequence[str]], caption: str, absent: bool = False
) -> str:
    """``absent``: the null word's column is there unseen, so that rows lie beside those of a model that has one."""
    head = (
        "".join(
            f'<th scope="col"{" class=pl-none" if name == NO_WORD else ""}>{escape(name[:24])}</th>' for name in columns
        )
        + f'<th class="pl-none pl-absent" aria-hidden="true">{NO_WORD}</th>' * absent
    )
    body = "".join(
        f'<tr><th scope="row">{escape(name)}</th>{"".join(cells)}</tr>' for name, cells in zip(names, rows, strict=True)
    )
    long = max(len(names), len(columns)) > _IN_SIGHT
    size = f"<p>{len(names)} × {len(columns)} words: scroll inside the frame</p>" if long else ""
    return (
        f'<div class="pl-scroll" tabindex="0" role="group" aria-label="{escape(caption)}"><table><thead><tr><td></td>'
        f"{head}</tr></thead><tbody>{body}</tbody></table></div>{size}"
    )


def agreement(heads: Sequence[str], rows: Sequence[str], values: Sequence[Sequence[float | None]]) -> str:
    """Total variation of each word as a table, the mean of each column last."""
    top = "".join(f'<th scope="col">{escape(head)}</th>' for head in heads)

    def line(name: str, cells: Sequence[float | None], kind: str = "") -> str:
        shown = "".join(f"<td>{'' if value is None else f'{value:.2f}'}</td>" for value in cells)
        return f'<tr{kind}><th scope="row">{escape(name)}</th>{shown}</tr>'

    def mean(numbers: Sequence[float | None]) -> float | None:
        known = [number for number in numbers if number is not None]
        return sum(known) / len(known) if known else None

    body = "".join(line(name, cells) for name, cells in zip(rows, values, strict=True))
    means = line("mean", [mean(column) for column in zip(*values, strict=True)], ' class="pl-mean"')
    return (
        f'<div class="pl-scroll pl-agree" tabindex="0" role="group" aria-label="Total variation"><table><thead><tr>'
        f"<td></td>{top}</tr></thead><tbody>{body}{means}</tbody></table></div>"
    )


def key(high: float) -> str:
    """The scale of all matrices."""
    ramp, end = ",".join(CIVIDIS), percent(1.0 if high > 0.995 else high)
    return f'<div class="pl-key">0 % <i style="background:linear-gradient(90deg,{ramp})"></i>{end}</div>'


def signed_key(high: float, first: str, other: str) -> str:
    """The scale of the differences."""
    less, more = (f"rgb({','.join(map(str, colour))})" for colour in (_LESS, _MORE))
    return (
        f'<div class="pl-key">{escape(other)} +{percent(high)} <i style="background:linear-gradient(90deg,{less},'
        f'transparent,{more})"></i> {escape(first)} +{percent(high)}</div>'
    )
