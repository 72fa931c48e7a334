"""Exit status and output of the command-line tools: an error the user can fix becomes one sentence on standard error
and exit status 2, Ctrl-C one word and 130; control characters in files never reach the terminal."""

from __future__ import annotations

import argparse
import io
import logging
import os
import re
import signal
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, redirect_stderr, redirect_stdout
from typing import Any, TextIO, cast

from core.errors import UserError
from core.openmp import wait_asleep


def add_class_names(parser: argparse.ArgumentParser) -> None:
    """Adds the option --class-names to a command that opens models."""
    parser.add_argument(
        "--class-names",
        metavar="A,B,C",
        default=(),
        type=lambda text: tuple(text.split(",")),
        help="class names for an external model, in the order of its outputs, such as entailment,neutral,contradiction",
    )


BROKEN_PIPE = 141
"""Exit status if the reader of the output (such as ``head``) closes it: 128 plus the number of SIGPIPE."""

INTERRUPTED = 130
"""Exit status after Ctrl-C: 128 plus the number of SIGINT."""


@contextmanager
def ending_at_once() -> Iterator[None]:
    """Within this block, Ctrl-C ends the process with one line. It covers the seconds of imports, when nothing has been
    written yet and compiled modules would turn a KeyboardInterrupt into other errors."""
    in_main_thread = threading.current_thread() is threading.main_thread()
    if not in_main_thread or signal.getsignal(signal.SIGINT) is not signal.default_int_handler:
        yield
        return
    signal.signal(signal.SIGINT, _end)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, signal.default_int_handler)


def _end(*_: object) -> None:
    os.write(2, b"\nstopped\n")
    os._exit(INTERRUPTED)


_CONTROL = re.compile(r"(?s)[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f]|(?<=.)\r")
"""All control characters except tabs, line ends and the carriage return at the start of a progress bar."""


def joined(arguments: Sequence[str]) -> list[str]:
    """Joins values that begin with a minus, such as ``--label -1=neutral``, to their options, because argparse accepts
    them only in that form."""
    out = list[str]()
    for argument in arguments:
        is_value = argument[:1] == "-" and argument[1:2] != "-" and argument not in ("-", "-h")
        if is_value and out and out[-1].startswith("--") and "=" not in out[-1] and len(out[-1]) > 2:
            out[-1] += f"={argument}"
        else:
            out.append(argument)
    return out


class _Visible:
    """A stream that writes control characters as JSON escapes (``\\u001b``), so that JSON stays valid; everything else
    is delegated to the wrapped stream."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)

    def write(self, text: str) -> int:
        return self._stream.write(_CONTROL.sub(lambda control: f"\\u{ord(control[0]):04x}", text))


def status_of(command: Callable[[], int | None], name: str = "", hint: str = "") -> int:
    """Run a command and return its exit status; ``name`` starts the error sentence, ``hint`` is appended to the message
    after Ctrl-C."""
    # Tracebacks of external models are for server logs; on a terminal the sentence is enough.
    logging.getLogger("core").addHandler(logging.NullHandler())
    out, err = (cast(TextIO, _Visible(stream)) for stream in (sys.stdout, sys.stderr))
    with redirect_stdout(out), redirect_stderr(err):
        return _status(command, f"{name}: " if name else "", hint)


def _status(command: Callable[[], int | None], before: str, hint: str) -> int:
    try:
        status = command() or 0
        sys.stdout.flush()
    except UserError as error:
        print(f"{before}{error}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        print(f"\nstopped{hint}", file=sys.stderr)
        return INTERRUPTED
    except BrokenPipeError:
        # Otherwise Python would report another error when it closes the stream.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return BROKEN_PIPE
    except OSError as error:
        from core.files import refusal

        print(f"{before}{refusal(error)}", file=sys.stderr)
        return 2
    return status


def prepare_process() -> None:
    """The first call of every command, before it imports torch: makes OpenMP threads sleep at barriers, and prints a
    question mark for characters that the terminal's encoding lacks."""
    wait_asleep()
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="replace")
