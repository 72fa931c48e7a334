"""`python -m trainers COMMAND`: one module a command, each with ``add_arguments(parser)`` and ``run(args)``."""

from __future__ import annotations

import argparse
import importlib
import sys
from collections.abc import Sequence
from types import ModuleType

from core.command_line import ending_at_once, print_anything, status_of

COMMANDS = {
    "train": "train a model from a recipe",
    "evaluate": "score a checkpoint on a data file",
    "predict": "write a checkpoint's prediction for every row of a data file",
    "align": "measure a checkpoint's attention against people's word alignments",
    "calibrate": "fit what a ranker's score means as a probability on a dev set",
    "probe": "put a suite of simple pairs to a checkpoint, and say what went wrong",
    "sweep": "train variants of a recipe with several seeds, and write a table",
    "baselines": "score baselines without a network on a recipe's data",
    "compare": "compare two groups of runs by a paired bootstrap over items and seeds",
    "map": "lay out the filters that a checkpoint makes for the texts of a data file",
    "bench": "measure the speeds that PairLens promises",
    "words": "make the shared word table",
    "results": "write docs/results.md from the cards and tables of the shipped checkpoints",
    "make-pairs": "make pairs that differ in one respect from SNLI's premises and WordNet",
    "near-pairs": "pair the texts of a data file with near ones, labelled by checkpoints",
    "table": "rebuild a table of the AttConv paper from runs, beside the paper's numbers",
    "figure": "draw the accuracy of runs by text length or by the number of evidence sentences",
    "seeds": "write the mean and spread over several seeds into a checkpoint's card",
}


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command. Errors that a person can mend are one sentence on stderr, with exit status 2."""
    argv = list(sys.argv[1:] if arguments is None else arguments)
    parser = argparse.ArgumentParser("python -m trainers", description="Train, score and measure PairLens models.")
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    # Only the module that is asked for is imported: torch alone takes a second.
    command = next((word for word in argv if word in COMMANDS), None)
    with ending_at_once():
        for name, summary in COMMANDS.items():
            module = _module(name) if name == command else None
            sub = commands.add_parser(
                name,
                help=summary,
                description=module.__doc__ if module else summary,
                formatter_class=argparse.RawDescriptionHelpFormatter,
            )
            if module:
                module.add_arguments(sub)
    args = parser.parse_args(argv)
    hint = "; --resume goes on from the last saved state" if args.command == "train" else ""
    return status_of(lambda: _module(args.command).run(args), f"python -m trainers {args.command}", hint)


def _module(command: str) -> ModuleType:
    return importlib.import_module(f"trainers.{command.replace('-', '_')}")


if __name__ == "__main__":
    print_anything()
    sys.exit(main())
