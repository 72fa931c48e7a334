"""Where a browser's next message may interrupt a page's run: never in a callback.

Streamlit may end a run at any Streamlit call once the browser requests the next run. In a callback that would lose what
the visitor typed or clicked: the next run no longer counts the widget as changed. ``runner.fastReruns`` is off for the
same reason (.streamlit/config.toml): with it, the next run begins in another thread while the callback still changes
the session's state, and drops a click whose run has not begun.
"""

from __future__ import annotations

import functools

from streamlit.runtime.scriptrunner.script_runner import ScriptRunner
from streamlit.runtime.scriptrunner_utils.script_run_context import RunLocation, ThreadState

_interrupt = ScriptRunner._maybe_handle_execution_control_request


@functools.wraps(_interrupt)
def _interrupt_after_callbacks(self: ScriptRunner) -> None:
    """Streamlit's own check, which it makes again right after the callbacks."""
    if not (self._is_in_script_thread() and self._execing and ThreadState.get().run_location is RunLocation.CALLBACK):
        _interrupt(self)


def finish_callbacks() -> None:
    """From now on, callbacks of all sessions run to their end."""
    ScriptRunner._maybe_handle_execution_control_request = _interrupt_after_callbacks  # type: ignore[method-assign]
