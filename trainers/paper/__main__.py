"""`python -m trainers.paper COMMAND`: rebuild the papers' tables, the word table and the made data."""

from __future__ import annotations

import sys

from core.command_line import print_anything
from trainers.commands import Program

PROGRAM = Program(
    "trainers.paper",
    "Rebuild the papers' tables and figures, docs/results.md, the word table and the made data.",
    {
        "words": "make the shared word table",
        "make-pairs": "make pairs that differ in one respect from SNLI's premises and WordNet",
        "near-pairs": "pair the texts of a data file with near ones, labelled by checkpoints",
        "table": "rebuild a table of the AttConv paper from runs, beside the paper's numbers",
        "figure": "draw the accuracy of runs by text length or by the number of evidence sentences",
        "results": "write docs/results.md from the cards and tables of the shipped checkpoints",
        "seeds": "write the mean and spread over several seeds into a checkpoint's card",
        "baselines": "score baselines without a network on a recipe's data",
    },
)
main = PROGRAM.main

if __name__ == "__main__":
    print_anything()
    sys.exit(main())
