"""`python -m trainers.paper COMMAND`: rebuild the papers' tables, the word table and the generated pairs."""

from __future__ import annotations

import sys

from core.command_line import prepare_process
from trainers.commands import Program

PROGRAM = Program(
    "trainers.paper",
    "Rebuild the papers' tables and figures, docs/results.md, the word table and the made data.",
)
main = PROGRAM.main

if __name__ == "__main__":
    prepare_process()
    sys.exit(main())
