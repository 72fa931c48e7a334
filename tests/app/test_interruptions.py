"""What a visitor did last is never lost, however fast the next message comes."""

from __future__ import annotations

import runpy

import pytest
from streamlit import config
from streamlit.runtime.scriptrunner.script_runner import ScriptRunner
from streamlit.testing.v1 import AppTest

from app import pages


def page_that_is_asked_again_in_a_callback() -> None:
    import streamlit as st
    from streamlit.runtime.scriptrunner import RerunData, get_script_run_ctx

    def typed() -> None:
        if "asked" not in st.session_state:
            st.session_state["asked"] = True
            context = get_script_run_ctx()
            context.script_requests.request_rerun(RerunData(page_script_hash=context.page_script_hash))
        st.session_state["taken"] = st.session_state["premise"]

    st.text_input("Premise", key="premise", on_change=typed)
    st.session_state["runs"] = st.session_state.get("runs", 0) + 1
    st.text(f"taken: {st.session_state.get('taken', 'nothing')}")


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> None:
    """What a server does before anybody visits."""
    name = "_maybe_handle_execution_control_request"
    monkeypatch.setattr(ScriptRunner, name, getattr(ScriptRunner, name))  # put back after the test
    monkeypatch.setenv("OMP_WAIT_POLICY", "passive")
    pages._found.cache_clear()
    runpy.run_path("streamlit_app.py")


@pytest.mark.usefixtures("server")
def test_a_message_that_comes_during_a_callback_waits_for_its_end():
    page = AppTest.from_function(page_that_is_asked_again_in_a_callback).run()
    page.text_input(key="premise").set_value("A secret animal").run()
    assert page.text[0].value == "taken: A secret animal"
    assert not page.exception
    assert page.session_state["runs"] == 2, "the run that was asked for comes instead of the callback's own"


def test_a_click_whose_run_has_not_begun_is_kept():
    assert not config.get_option("runner.fastReruns")


@pytest.mark.usefixtures("server")
def test_the_pages_are_read_before_the_first_visitors_come_at_once():
    """Python 3.11 raises a SystemError in one of two threads that parse scripts at the same time."""
    assert pages._found.cache_info().currsize == 1
