"""``python -m core``: the page's numbers on the command line.

python -m core models
python -m core explain --model nli-attconv-light --first "A dog runs" --second "An animal moves" --json
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Mapping

from core.checkpoint import CheckpointError, available, open_checkpoint, read_card
from core.evidence import Explanation, FilterProvenance, PhraseSelection
from core.explain import PairError, explain
from core.files import told


def main(arguments: list[str] | None = None) -> int:
    """Run one command; returns the exit status (2 with one sentence on standard error when the input is at fault)."""
    parser = argparse.ArgumentParser(prog="python -m core", description="Explain a sentence pair with a trained model.")
    commands = parser.add_subparsers(dest="command", required=True)
    models = commands.add_parser("models", help="list the checkpoints that are here")
    models.add_argument("--json", action="store_true", help="the cards as JSON")
    explainer = commands.add_parser("explain", help="verdict, attention and filters of one pair")
    explainer.add_argument("--model", required=True, help="a name listed by `models`, or a checkpoint folder")
    explainer.add_argument("--first", required=True, help="the premise (the first sentence in the data set's order)")
    explainer.add_argument("--second", default="", help="the hypothesis (the second sentence); none for single texts")
    explainer.add_argument("--word", type=int, help="number of the judged word whose context is also told in words")
    explainer.add_argument("--json", action="store_true", help="the whole Explanation as JSON")
    options = parser.parse_args(arguments)
    try:
        if options.command == "models":
            _models(options.json)
        else:
            _explain(options)
    except (CheckpointError, PairError) as error:
        print(error, file=sys.stderr)
        return 2
    except OSError as error:
        print(told(error), file=sys.stderr)
        return 2
    return 0


def _models(as_json: bool) -> None:
    cards = {}
    for name, folder in available().items():
        try:
            cards[name] = read_card(folder)
        except CheckpointError as error:
            print(error, file=sys.stderr)
    if as_json:
        print(json.dumps(cards, indent=1, ensure_ascii=False))
        return
    for name, card in cards.items():
        results = "; ".join(f"{data} {_score(values)}" for data, values in (card.get("results") or {}).items())
        print(f"{name:24} {card['title']}\n{'':24} {results or 'no results on its card'}")


def _score(values: Mapping[str, float]) -> str:
    if "map" in values:
        return f"MAP {values['map']:.4f}"
    return f"{values['accuracy']:.1%}" if "accuracy" in values else "not scored"


def _explain(options: argparse.Namespace) -> None:
    result = explain(open_checkpoint(options.model), options.first, options.second, nearest_for=options.word)
    print(result.to_json(indent=1) if options.json else as_text(result))


def as_text(result: Explanation, filters: int = 8) -> str:
    """The explanation for a terminal: verdict, attention by word (weights in per cent), strongest filters."""
    shares = "  ".join(f"{la} {p:.1%}" for la, p in zip(result.labels, result.probabilities, strict=True))
    lines = [f"{result.verdict}   ({shares})   {result.title}, {result.milliseconds:.0f} ms", *result.warnings]
    attention = result.word_attention
    if attention is not None:
        rows, columns = result.sentence(attention.rows).tokens, result.sentence(attention.columns).tokens
        lines += ["", f"Where each word of the {attention.rows} looks in the {attention.columns}:"]
        for token, weights in zip(rows, attention.weights, strict=True):
            best = sorted(range(len(weights)), key=lambda j, w=weights: -w[j])[:4]  # type: ignore[misc]
            looks = ", ".join(f"{columns[j].text} {weights[j]:.0%}" for j in best)
            lines.append(f"  {token.text:>16}  {looks}")
    for provenance in result.evidence:
        if isinstance(provenance, FilterProvenance):
            lines += _strongest(result, provenance, filters)
    selection = result.find(PhraseSelection)
    if selection is not None:
        lines += _phrases(result, selection)
    return "\n".join(lines)


def _strongest(result: Explanation, provenance: FilterProvenance, count: int) -> list[str]:
    """The filters that push most towards the verdict; of a model without shares the most active ones."""
    verdict = result.labels.index(result.verdict)
    words = result.sentence(provenance.rows).tokens
    shared = bool(provenance.filters[0].logit_shares)
    made = f", made from the {provenance.made_from}" if provenance.made_from else ""
    what = f"push most towards {result.verdict}" if shared else "are most active"
    lines = ["", f"Filters over the {provenance.rows}{made} that {what} (left + self + right + context + bias):"]
    ranked = sorted(provenance.filters, key=lambda f: -(f.logit_shares[verdict] if shared else f.activation))
    for f in ranked[:count]:
        gram = " ".join(t.text for t in words[f.window[0] : f.window[1]])
        share = f"{f.logit_shares[verdict]:+.3f}  " if shared else ""
        lines.append(
            f"  {f.index:>4}  {share}{f.left:+.2f} {f.self_:+.2f} {f.right:+.2f} {f.context:+.2f} {f.bias:+.2f} -> "
            f"{provenance.activation} = {f.activation:+.3f}   {gram}"
        )
    return lines


def _phrases(result: Explanation, selection: PhraseSelection) -> list[str]:
    """What each pooling keeps at the trained k, with each phrase's best alignment."""
    lines = []
    for pooling in ("kmin", "kmax"):
        choice = selection.choice(pooling, selection.k)
        if choice is None:
            continue
        shares = "  ".join(f"{la} {p:.1%}" for la, p in zip(result.labels, choice.probabilities, strict=True))
        trained = ", as trained" if choice.trained else ""
        lines += ["", f"{pooling} with k = {choice.k}{trained}: {shares}"]
        for side, kept in zip(selection.sides, choice.kept, strict=True):
            tokens = result.sentence(side.role).tokens
            phrases = [side.phrases[i] for i in kept]
            told = " | ".join(
                f"{' '.join(t.text for t in tokens[slice(*phrase.span)])} {phrase.score:.2f}" for phrase in phrases
            )
            lines.append(f"  {side.role:>12}  {told}")
    return lines


if __name__ == "__main__":
    sys.exit(main())
