"""External models on the pages: an encoder-decoder, methods that cannot work, faults, and words of
scripts without spaces."""

import pytest

from core.checkpoint import load_named
from core.desk.prediction import prediction
from core.errors import UserError
from core.evidence import AttentionMap
from core.explain import explain
from tests.app.pages import answered, components, open_view, sentences
from tests.app.test_guests import PAIR, explore, matrix, rounded
from tests.core.made_up_runs import taxi
from tests.guests import make


@pytest.fixture(autouse=True)
def _here(guests, monkeypatch):
    monkeypatch.setenv("PAIRLENS_CHECKPOINTS", str(guests))


@pytest.fixture
def small_bart(tmp_path, monkeypatch):
    make(tmp_path / "small-bart", "bart")
    monkeypatch.setenv("PAIRLENS_CHECKPOINTS", str(tmp_path))
    return load_named("small-bart")


def test_of_an_encoder_decoder_the_encoders_attention_is_shown(drawn, small_bart):
    data = drawn(explore(model="small-bart", head="2.1"))
    assert matrix(data)["name"] == "layer 2, head 1 of the encoder" and not data["notices"]
    record = explain(small_bart, *PAIR, head="2.1").find(AttentionMap)
    assert matrix(data)["weights"] == rounded(record.weights)
    (notice,) = drawn(explore(model="small-bart", head="3.9"))["notices"]
    assert notice.endswith("without them: head.")
    (notice,) = drawn(explore(model="small-bart", head="cross.2.1"))["notices"]
    assert "Some settings of this link can’t be used here" in notice and "head" in notice


def test_methods_that_need_gradients_are_offered_where_there_are_some(drawn, small_bart):
    gradient = {"integrated-gradients", "gradient-norm"}
    app = explore(model="small-bart", method="integrated-gradients")
    data = drawn(app)
    assert not gradient & data["why"]["methods"].keys() and data["asked"]["method"] in data["why"]["methods"]
    assert any("method" in notice for notice in data["notices"])
    with pytest.raises(UserError, match="small-bart has no gradients: choose"):
        answered("why", **drawn(app)["why"]["question"], method="integrated-gradients")


@pytest.mark.parametrize("error", [IndexError("index out of range in self"), SystemExit(1)])
def test_a_models_exception_becomes_one_sentence_and_ends_the_wait(drawn, small_bart, monkeypatch, caplog, error):
    app = explore(model="small-bart")

    def forward(*args, **values):
        raise error

    monkeypatch.setattr(small_bart.model.body, "forward", forward)
    app = explore(model="small-bart", first="Another text is typed.", believed="on", turns="on")
    said = sentences(app)
    assert len(said) == 1 and "small-bart could not answer" in said[0] and "Traceback" not in said[0]
    assert any(record.exc_info and record.exc_info[1] is error for record in caplog.records)
    app = open_view("compare", model="small-bart", others="nli-two-sided", first="Another text.", second=PAIR[1])
    assert not app.exception
    data = next(data for data in components(app) if data.get("view") == "compare")
    assert "small-bart could not answer" in data["sections"][0]["problem"] and not data["sections"][1]["problem"]


def test_words_of_a_script_without_spaces_are_changed_one_by_one(drawn):
    pair = {"first": "今天天气很好，我们去公园玩", "second": "她在家里"}
    data = drawn(explore(**pair, edits="drop 0 2\nreplace 1 0 他"))
    assert data["sides"][0]["tokens"] == list("今天气很好，我们去公园玩")
    assert data["sides"][1]["tokens"] == list("他在家里")
    assert [step["said"] for step in data["why"]["what_if"]["steps"][1:]] == ["“天” left out", "“她” → “他”"]
    assert len(matrix(data)["weights"]) == 4


@pytest.mark.parametrize("error", [RuntimeError("out of\nmemory"), SystemExit(1)])
def test_a_fault_while_the_desk_predicts_is_the_jobs_one_sentence(small_bart, tmp_path, monkeypatch, caplog, error):
    from core.data import read

    def forward(*args, **values):
        raise error

    monkeypatch.setenv("PAIRLENS_DESK", str(tmp_path / "desk"))
    monkeypatch.delenv("PAIRLENS_DB", raising=False)
    monkeypatch.setattr(small_bart.model.body, "forward", forward)
    job = prediction(read(taxi(tmp_path)), ["small-bart"])
    job.run()
    assert "mall-bart could not answer" in job.problem and job.problem.count(".") == 1 and "\n" not in job.problem
    assert any(record.exc_info and record.exc_info[1] is error for record in caplog.records)
