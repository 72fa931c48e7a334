"""An Explanation drawn as one piece of static HTML: in a notebook it shows itself, and a report can hold it.

Needs no script and no style sheet: colours are written into the cells, so that it survives a notebook's export.
"""

from __future__ import annotations

from html import escape

from core.evidence import AttentionMap, Explanation, PhraseSelection

# Eleven steps of cividis (Nuñez et al. 2018), light to dark: even in lightness, so it also prints in grey.
_CIVIDIS = (
    "#fee838", "#e6d54a", "#cfc157", "#b7ae62", "#a09c69", "#8b8a70",
    "#757874", "#606870", "#47586c", "#264672", "#00224e",
)  # fmt: skip
_STYLE = "padding:3px 6px;text-align:center;font-variant-numeric:tabular-nums"


def html(explanation: Explanation) -> str:
    """Verdict and attention matrix as HTML text; every character of the person's text is escaped."""
    shares = ", ".join(
        f"{escape(label)} {probability:.0%}"
        for label, probability in zip(explanation.labels, explanation.probabilities, strict=True)
    )
    out = [f"<p><b>{escape(explanation.verdict.capitalize())}</b> ({shares}), by {escape(explanation.title)}</p>"]
    out += [f"<p>{escape(warning)}</p>" for warning in explanation.warnings]
    record = explanation.word_attention
    selection = explanation.find(PhraseSelection)
    if record is not None:
        out.append(_matrix(explanation, record))
    elif selection is not None:
        out.append(_phrases(explanation, selection))
    else:
        out.append(_sentence(explanation))
    return "".join(out)


def _sentence(explanation: Explanation) -> str:
    side = explanation.judged_sentence
    return f"<p>{escape(side.role)}: {escape(side.text)}</p>"


def _phrases(explanation: Explanation, selection: PhraseSelection) -> str:
    """Both sentences as rows, what k-min and k-max keep of them as columns."""
    shown = [c for c in (selection.choice(pooling, selection.k) for pooling in ("kmin", "kmax")) if c is not None]
    head = "".join(f'<th scope="col">{c.pooling}, k = {c.k}{", as trained" if c.trained else ""}</th>' for c in shown)
    body = []
    for place, side in enumerate(selection.sides):
        tokens = explanation.sentence(side.role).tokens
        cells = []
        for choice in shown:
            spans = [side.phrases[i].span for i in choice.kept[place]]
            told = " | ".join(escape(" ".join(token.text for token in tokens[slice(*span)])) for span in spans)
            cells.append(f'<td style="{_STYLE};text-align:left">{told}</td>')
        body.append(f'<tr><th scope="row">{escape(side.role)}</th>{"".join(cells)}</tr>')
    caption = "The phrases that pooling keeps: the worst aligned with the other sentence (kmin), the best (kmax)."
    return (
        f'<table style="border-collapse:collapse"><caption style="text-align:left">{caption}</caption>'
        f"<tr><td></td>{head}</tr>{''.join(body)}</table>"
    )


def _matrix(explanation: Explanation, record: AttentionMap) -> str:
    rows, columns = explanation.sentence(record.rows), explanation.sentence(record.columns)
    head = "".join(f'<th scope="col">{escape(token.text)}</th>' for token in columns.tokens)
    caption = (
        f"Rows: the {escape(record.rows)}; columns: the {escape(record.columns)}. "
        "Darker: more weight on that word; each row adds up to 100."
    )
    body = []
    for token, weights in zip(rows.tokens, record.weights, strict=True):
        cells = "".join(_cell(weight) for weight in weights)
        body.append(f'<tr><th scope="row" style="text-align:right">{escape(token.text)}</th>{cells}</tr>')
    return (
        f'<table style="border-collapse:collapse"><caption style="text-align:left">{caption}</caption>'
        f"<tr><td></td>{head}</tr>{''.join(body)}</table>"
    )


def _cell(weight: float) -> str:
    step = min(10, max(0, round(weight * 10)))
    ink = "#ffffff" if step >= 6 else "#000000"
    return f'<td style="{_STYLE};background:{_CIVIDIS[step]};color:{ink}">{weight * 100:.0f}</td>'
