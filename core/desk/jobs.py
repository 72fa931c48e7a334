"""Work that goes on in the background while people look at the desk, with progress and cancel."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field

from core.errors import UserError

_LOG = logging.getLogger(__name__)


class Cancelled(Exception):
    """A person stopped the job."""


@dataclass(eq=False)
class Job:
    """Something done to many rows in a thread of its own. A subclass has ``name`` (what the rows are of), ``what`` is
    done to them, ``rows`` and :meth:`work`, which keeps what it has done as it goes, so that a cancelled or killed job
    loses little."""

    done: int = field(default=0, init=False)
    """Rows that are done."""
    problem: str = field(default="", init=False)
    """One sentence where it could not go on."""
    cancelled: bool = field(default=False, init=False)
    started: bool = field(default=False, init=False)
    """False while it waits for its turn."""
    _over: threading.Event = field(default_factory=threading.Event, init=False, repr=False)
    _began: float = field(default=0.0, init=False)
    _before: int = field(default=0, init=False)

    @property
    def name(self) -> str:
        """Of the file whose rows these are."""
        raise NotImplementedError

    @property
    def what(self) -> str:
        """What is done to them, as a sentence begins: “The prediction of …”."""
        raise NotImplementedError

    @property
    def rows(self) -> int:
        """How many there are to do."""
        raise NotImplementedError

    @property
    def finished(self) -> bool:
        """Whether it has ended, however it did."""
        return self._over.is_set()

    def work(self) -> None:
        """All of it. It calls :meth:`begin` when its first rows begin and :meth:`progress` as they are done."""
        raise NotImplementedError

    def start(self, ended: Callable[[Job], None] = lambda job: None) -> None:
        """Begin in the background; ``ended`` is called with it afterwards."""
        self.started = True
        threading.Thread(target=self._run, args=(ended,), name=type(self).__name__, daemon=True).start()

    def cancel(self) -> None:
        """Stop after the batch that is being computed."""
        self.cancelled = True

    def end(self) -> None:
        """It is over, whether or not it had begun."""
        self._over.set()

    def wait(self, seconds: float | None = None) -> bool:
        """Whether it has ended, at the latest after so many seconds."""
        return self._over.wait(seconds)

    def begin(self) -> None:
        """Speed is measured from now on."""
        self._began, self._before = time.perf_counter(), self.done

    def progress(self, done: int) -> None:
        """So many rows are done. Raises :class:`Cancelled` where a person stopped the job."""
        self.done = done
        if self.cancelled:
            raise Cancelled

    @property
    def speed(self) -> float | None:
        """Rows a second since the first batch began; None before one is done."""
        passed = time.perf_counter() - self._began
        return (self.done - self._before) / passed if self.done > self._before and passed > 0 else None

    @property
    def left(self) -> float | None:
        """Seconds until it is done, if it goes on as it did; None while that is unknown."""
        return (self.rows - self.done) / self.speed if self.speed else None

    def _run(self, ended: Callable[[Job], None]) -> None:
        try:
            self.work()
        except Cancelled:
            pass
        except UserError as error:
            self.problem = f"{str(error)[:1].upper()}{str(error)[1:].rstrip('.')}."
        except (Exception, SystemExit) as error:
            _LOG.exception("A job of the desk failed")
            self.problem = f"This failed ({error or type(error).__name__}): try another file or checkpoint."
        finally:
            ended(self)
            self.end()
