"""How the command lines end: what a person can mend is one sentence on standard error and exit status 2."""

from __future__ import annotations

import io
import os
import sys
from collections.abc import Callable

from core.errors import MendableError
from core.files import refusal

BROKEN_PIPE = 141
"""Exit status when the reader of the output, such as ``head``, had enough: 128 and the number of SIGPIPE."""


def status_of(command: Callable[[], int | None], name: str = "") -> int:
    """Run a command and return its exit status; ``name`` begins the sentence of an error."""
    before = f"{name}: " if name else ""
    try:
        status = command() or 0
        sys.stdout.flush()
    except MendableError as error:
        print(f"{before}{error}", file=sys.stderr)
        return 2
    except BrokenPipeError:
        # Or Python complains once more when it closes the stream.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return BROKEN_PIPE
    except OSError as error:
        print(f"{before}{refusal(error)}", file=sys.stderr)
        return 2
    return status


def print_anything() -> None:
    """Let a character that the terminal's encoding lacks become a question mark, not a traceback."""
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="replace")
