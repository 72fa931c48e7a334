"""``python -m core``: the page's numbers on the command line.

python -m core models
python -m core explain --model nli-attconv-light --first "A dog runs" --second "An animal moves" --json
python -m core why nli-two-sided --first "Three girls play" --second "Two girls play" --links
python -m core routes nli-two-sided --first "A red car" --second "A blue car" --other-second "A red car"
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING

from core.command_line import add_class_names, ending_at_once, joined, prepare_process, status_of
from core.errors import UserError
from core.progress import progress_bar

if TYPE_CHECKING:
    from core.checkpoint import Checkpoint
    from core.effects.cost import Cost
    from core.progress import Progress


def parser() -> argparse.ArgumentParser:
    """The command line."""
    parser = argparse.ArgumentParser(prog="python -m core", description="Explain a sentence pair with a trained model.")
    commands = parser.add_subparsers(dest="command", required=True)
    models = commands.add_parser("models", help="list the available checkpoints")
    models.add_argument("--json", action="store_true", help="the cards as JSON")
    explainer = commands.add_parser("explain", help="verdict, attention and filters for one pair")
    explainer.add_argument("--word", type=int, help="judged word (from 0) whose context is also shown as nearest words")
    explainer.add_argument("--edit", action="append", default=[], metavar="EDIT", help="change the attention first, as "
                           "What if on the page Explore does: “uniform 0”, “temperature 2”, “cell 0 3 2 0.8 kept”, or "
                           "“uncrossed” for a model that counts crossing words; repeatable")  # fmt: skip
    explainer.add_argument("--head", default="", metavar="LAYER.HEAD", help="the head of a transformer whose "
                           "attention is shown: 7.4, mean or rollout (default: its card's)")  # fmt: skip
    asking = commands.add_parser("why", help="the effect of each word, attention link or head on the verdict")
    asking.add_argument("--method", default="taken-away", help="how words are removed (default: %(default)s); any "
                        "other word lists the methods")  # fmt: skip
    asking.add_argument("--links", action="store_true", help="the effect of each attention link too, with the rest "
                        "of its row renormalised")  # fmt: skip
    asking.add_argument("--all", action="store_true", help="for an external model, as many replacements and links as "
                        "for a shipped one")  # fmt: skip
    asking.add_argument("--heads", action="store_true", help="the effect of ablating each head of a transformer")
    asking.add_argument("--shares", action="store_true", help="instead, the share of each pair of words in a "
                        "bi-encoder's similarity, by integrated Jacobians")  # fmt: skip
    turning = commands.add_parser("turn", help="the smallest change of the words that flips the verdict")
    dividing = commands.add_parser("routes", help="which parts of the model carry the difference to another version")
    named = "a name listed by `models`, or a checkpoint folder"
    explainer.add_argument("--model", required=True, help=named)
    told = {explainer: "the whole Explanation", asking: "the Effects", turning: "the changes", dividing: "the Routes"}
    for command, what in told.items():
        if command is not explainer:
            command.add_argument("model", help=named)
        add_class_names(command)
        command.add_argument("--first", required=True, help="the premise (the first sentence in the data set's order)")
        command.add_argument("--second", default="", help="the hypothesis (the second sentence); none for single texts")
        command.add_argument("--json", action="store_true", help=f"{what} as JSON")
    for side in ("first", "second"):
        dividing.add_argument(f"--other-{side}", metavar="TEXT", help=f"the {side} text of the other version, with as "
                              "many words (default: the same)")  # fmt: skip
    return parser


def main(arguments: list[str] | None = None) -> int:
    """Run one command; returns the exit status (2 with one sentence on standard error for invalid input)."""
    options = parser().parse_args(joined(sys.argv[1:] if arguments is None else arguments))
    commands = {"models": _models, "explain": _explain, "why": _why, "turn": _turn, "routes": _routes}
    return status_of(lambda: commands[options.command](options))


def _models(options: argparse.Namespace) -> None:
    with ending_at_once():
        from core.card import is_external
        from core.checkpoint import CheckpointError, available, read_card
        from core.external.card import size_of

    cards, folders = {}, available()
    for name, folder in folders.items():
        try:
            cards[name] = read_card(folder)
        except CheckpointError as error:
            print(error, file=sys.stderr)
    if options.json:
        print(json.dumps(cards, indent=1, ensure_ascii=False))
        return
    for name, card in cards.items():
        results = "; ".join(f"{data} {_score(values)}" for data, values in (card.get("results") or {}).items())
        size = size_of(folders[name]) if is_external(card) else 0
        told = f", {size / 1e6:,.{int(size < 1e7)}f} MB" if size else ""
        print(f"{name:24} {card['title']}{told}\n{'':24} {results or 'no results on its card'}")


def _score(values: Mapping[str, float]) -> str:
    if "map" in values:
        return f"MAP {values['map']:.4f}"
    if "pearson" in values:
        return f"r {values['pearson']:.3f}, ρ {values['spearman']:.3f}"
    return f"{values['accuracy']:.1%}" if "accuracy" in values else "not scored"


def _explain(options: argparse.Namespace) -> None:
    with ending_at_once():
        from core.checkpoint import open_checkpoint
        from core.effects.attention_edits import AttentionEdit, explain_under
        from core.effects.reason import with_reason
        from core.evidence import AttentiveContext
        from core.explain import with_nearest

    checkpoint, pair = open_checkpoint(options.model, options.class_names), (options.first, options.second)
    if options.head and checkpoint.model.knockouts is None:
        raise UserError(f"{checkpoint.name} has no heads to choose from: leave --head out")
    result = explain_under(checkpoint, *pair, map(AttentionEdit.parse, options.edit), head=options.head)
    if options.word is not None:
        result = with_nearest(checkpoint, result, options.word)
    record = result.find(AttentiveContext)
    if options.word is not None and not (record and 0 <= options.word < len(record.nearest)):
        has = f"words 0 to {len(record.nearest) - 1}" if record else "no word with an attentive context"
        raise UserError(f"--word {options.word} is not there: this explanation has {has}")
    if not options.edit and not options.json:
        result = with_reason(checkpoint, result)
    print(result.to_json(indent=1) if options.json else result.to_text())


def _why(options: argparse.Namespace) -> None:
    with ending_at_once():
        from core.checkpoint import open_checkpoint
        from core.effects import Question, cost
        from core.effects.reason import quick_reason
        from core.effects.words import SAMPLING
        from core.evidence.as_json import to_dict

    checkpoint = open_checkpoint(options.model, options.class_names)
    every = options.all
    question = Question(checkpoint, options.first, options.second, SAMPLING if every else None)
    if options.shares:
        with _watched(checkpoint, lambda: cost.of_shares(question)) as progress:
            shares = question.shares(progress=progress)
        as_json = json.dumps(to_dict(shares), ensure_ascii=False, indent=1)
        print(as_json if options.json else "\n".join(shares.to_text(question.explanation)))
        return
    with _watched(checkpoint, lambda: cost.of_words(question, options.method)) as progress:
        effects = question.words(options.method, progress=progress)
    if options.links:
        with _watched(checkpoint, lambda: cost.of_links(question, every=every)) as progress:
            cut = question.links(every=every, progress=progress)
        effects = effects.with_links(cut)
    if options.heads:
        with _watched(checkpoint, lambda: cost.of_heads(question)) as progress:
            effects = effects.with_links(question.heads(progress=progress))
    if options.json:
        print(json.dumps(to_dict(effects), ensure_ascii=False, indent=1))
        return
    print(f"{quick_reason(question).sentence}\n")
    print("\n".join(effects.to_text()))


@contextmanager
def _watched(checkpoint: Checkpoint, count: Callable[[], Cost]) -> Iterator[Progress]:
    """Shows the expected cost of slow computations, with a progress bar on a terminal; Ctrl-C cancels."""
    cost = count() if checkpoint.seconds else None
    if cost is None or cost.brisk:
        yield lambda done, of: None
        return
    print(f"{cost}; Ctrl-C cancels", file=sys.stderr)
    with progress_bar("step") as progress:
        yield progress


def _turn(options: argparse.Namespace) -> None:
    with ending_at_once():
        from core.checkpoint import open_checkpoint
        from core.effects import Question, cost
        from core.explain import explained
        from core.wording import class_names

    checkpoint = open_checkpoint(options.model, options.class_names)
    pair = options.first, options.second
    question = Question(checkpoint, *pair)
    with _watched(checkpoint, lambda: cost.of_smallest_change(question)) as progress:
        changes = question.smallest_change(progress=progress)
    for warning in explained(checkpoint, *pair).warnings:
        print(warning, file=sys.stderr)
    if options.json:
        print(json.dumps([change.to_dict() for change in changes], ensure_ascii=False, indent=1))
    else:
        roles = [side.role for side in checkpoint.read(*pair).texts()]
        names = dict(zip(checkpoint.labels, class_names(checkpoint.labels, roles[-1]), strict=True))
        print("\n\n".join(change.to_text(names) for change in changes) or "No word can be changed.")


def _routes(options: argparse.Namespace) -> None:
    with ending_at_once():
        from core.checkpoint import open_checkpoint
        from core.effects import Question
        from core.evidence.as_json import to_dict

    pair = options.first, options.second
    others = options.other_first, options.other_second
    version = [own if other is None else other for own, other in zip(pair, others, strict=True)]
    found = Question(open_checkpoint(options.model, options.class_names), *pair).routes(*version)
    print(json.dumps(to_dict(found), ensure_ascii=False, indent=1) if options.json else "\n".join(found.to_text()))


if __name__ == "__main__":
    prepare_process()
    sys.exit(main())
