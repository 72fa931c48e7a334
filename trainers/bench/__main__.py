"""`python -m trainers.bench [NAME …]`: measure the speeds that PairLens promises."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence

from core.command_line import ending_at_once, print_anything, status_of


def parser() -> argparse.ArgumentParser:
    """The command line."""
    from trainers.bench import benchmarks

    how = argparse.RawDescriptionHelpFormatter
    parser = argparse.ArgumentParser("python -m trainers.bench", description=benchmarks.__doc__, formatter_class=how)
    benchmarks.add_arguments(parser)
    parser.set_defaults(run=benchmarks.run)
    return parser


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure. Errors that a person can mend are one sentence on stderr, with exit status 2."""
    with ending_at_once():
        program = parser()
    args = program.parse_args(arguments)
    return status_of(lambda: args.run(args), program.prog)


if __name__ == "__main__":
    print_anything()
    sys.exit(main())
