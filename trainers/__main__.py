"""`python -m trainers COMMAND`: train models, score them and look into them."""

from __future__ import annotations

import sys

from core.command_line import print_anything
from trainers.commands import Program

PROGRAM = Program(
    "trainers",
    "Train and score PairLens models. What rebuilds the papers' tables is `python -m trainers.paper`, what measures "
    "speeds `python -m trainers.bench`.",
    {
        "train": "train a model from a recipe",
        "evaluate": "score a checkpoint on a data file",
        "predict": "write a checkpoint's prediction for every row of a data file",
        "align": "measure a checkpoint's attention against people's word alignments",
        "probe": "put a suite of simple pairs to a checkpoint, and say what went wrong",
        "calibrate": "fit what a ranker's score means as a probability on a dev set",
        "map": "lay out the filters that a checkpoint makes for the texts of a data file",
        "sweep": "train variants of a recipe with several seeds, and write a table",
        "compare": "compare two groups of runs by a paired bootstrap over items and seeds",
    },
)
main = PROGRAM.main

if __name__ == "__main__":
    print_anything()
    sys.exit(main())
