"""`python -m trainers COMMAND`: train, evaluate and analyse models."""

from __future__ import annotations

import sys

from core.command_line import prepare_process
from trainers.commands import Program

PROGRAM = Program(
    "trainers",
    "Train and score PairLens models; `python -m trainers.paper` rebuilds the papers' tables.",
)
main = PROGRAM.main

if __name__ == "__main__":
    prepare_process()
    sys.exit(main())
