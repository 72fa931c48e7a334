"""Work that goes on in the background while people look at the desk, with progress and cancel."""

from __future__ import annotations

import threading
import time
from dataclasses import dataclass, field

from core.errors import MendableError


class Cancelled(Exception):
    """A person stopped the job."""


@dataclass
class Job:
    """Something done to many rows in a thread of its own. A subclass has ``name`` (what the rows are of), ``rows`` and
    :meth:`work`, which keeps what it has done as it goes, so that a cancelled or killed job loses little."""

    done: int = field(default=0, init=False)
    """Rows that are done."""
    problem: str = field(default="", init=False)
    """One sentence where it could not go on."""
    cancelled: bool = field(default=False, init=False)
    finished: bool = field(default=False, init=False)
    _began: float = field(default=0.0, init=False)
    _before: int = field(default=0, init=False)

    @property
    def name(self) -> str:
        """Of the file whose rows these are."""
        raise NotImplementedError

    @property
    def rows(self) -> int:
        """How many there are to do."""
        raise NotImplementedError

    def work(self) -> None:
        """All of it. It calls :meth:`begin` when its first rows begin and :meth:`progress` as they are done."""
        raise NotImplementedError

    def start(self) -> None:
        """Begin in the background."""
        self._thread = threading.Thread(target=self._run, name=type(self).__name__, daemon=True)
        self._thread.start()

    def cancel(self) -> None:
        """Stop after the batch that is being computed."""
        self.cancelled = True

    def wait(self, seconds: float | None = None) -> bool:
        """Whether it has ended, at the latest after so many seconds."""
        self._thread.join(seconds)
        return self.finished

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

    def _run(self) -> None:
        try:
            self.work()
        except Cancelled:
            pass
        except MendableError as error:
            self.problem = f"{str(error)[:1].upper()}{str(error)[1:]}."
        except Exception as error:  # a thread's traceback would be seen by nobody
            self.problem = f"This failed ({error or type(error).__name__}): try another file or checkpoint."
        finally:
            self.finished = True
