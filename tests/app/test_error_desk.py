"""The Error desk without a browser: its state, its parts, and one sentence for what cannot be."""

import gc
import gzip
import json
import re
import tracemalloc
from dataclasses import replace
from html import escape, unescape

import numpy as np
import pytest
from streamlit.runtime.context import ContextProxy, StreamlitHeaders

from app.desk import choosing
from app.page_state.error_desk import DeskState
from core.checkpoint import load_named, read_card
from core.data import DataError, read
from core.desk import exchange, job_notes, store
from core.desk.annotations import Annotations
from core.desk.database import open_database
from core.desk.figures import CHOSEN
from core.desk.queue import JobQueue
from core.desk.run import Run, save
from core.effects import why
from tests.app.made_up_models import make_checkpoint
from tests.app.pages import components, open_view, query, sentences
from tests.core.made_up_runs import ONE, ROWS, TWO, made_up_run, predictions, taxi
from tests.core.test_job_queue import queue_of
from trainers.__main__ import main

pytestmark = pytest.mark.usefixtures("desk")


@pytest.fixture
def desk(tmp_path, monkeypatch):
    monkeypatch.setenv("PAIRLENS_DESK", str(tmp_path / "desk"))
    monkeypatch.delenv("PAIRLENS_DB", raising=False)
    monkeypatch.delenv("PAIRLENS_DATASETS", raising=False)


@pytest.fixture
def run(tmp_path):
    made = made_up_run(tmp_path)
    store.keep(made)
    return made


def page(run, **more):
    address = {"file": run.dataset.sha256[:16], "models": f"{ONE[:16]}.{TWO[:16]}"}
    return open_view("error_desk", **address | more)


def figures(app):
    return "".join(data["html"] for data in components(app) if "html" in data)


def texts(app):
    return " ".join(element.proto.body for element in app.get("html"))


def button(app, label):
    return next(one for one in app.button if one.label == label)


def write_as(app, name):
    box = next(one for one in app.text_input if one.label == "Your name")
    box.set_value(name)
    return app.run()


def test_without_a_run_the_page_asks_for_a_file():
    app = open_view("error_desk")
    assert not app.exception
    assert "A data file and one to four checkpoints" in texts(app)


def test_the_rows_with_the_confusion_matrix(run):
    app = page(run)
    assert not app.exception
    assert "A The one 66.7" in texts(app) and "6 of 6 rows" in texts(app)
    assert "Confusion of The one" in figures(app)
    assert app.dataframe[0].value["predicted2"].tolist()[1] == "entailment"
    assert app.dataframe[0].proto.row_height > 60  # lower rows show a single line of a text
    usual = app.dataframe[0].proto
    app.toggle[0].set_value(True).run()
    large = app.dataframe[0].proto
    assert large.row_height == 1.5 * usual.row_height
    assert large.id != usual.id, "the browser measures the letters of a table once: this is another one"


def test_a_filter_that_cannot_be_read_is_underlined_where_it_is_wrong(run):
    app = page(run, filter="right and goldd = x")
    assert not app.exception
    assert "<mark>goldd</mark>" in texts(app)
    assert any("did you mean gold?" in sentence for sentence in sentences(app)) and "6 of 6 rows" in texts(app)


def test_a_filter_and_an_order_hold_for_the_table(run):
    app = page(run, filter="not right", sort="-p")
    assert app.dataframe[0].value["id"].tolist() == ["1n", "1c#2"]
    app = page(run, filter="not right", sort="p")
    assert app.dataframe[0].value["id"].tolist() == ["1c#2", "1n"]


def test_the_order_is_chosen_and_stands_in_the_address(run):
    app = page(run, filter="not right")
    order = next(box for box in app.selectbox if box.label == "Order")
    order.set_value("-p").run()
    assert query(app)["sort"] == "-p" and app.dataframe[0].value["id"].tolist() == ["1n", "1c#2"]


def test_a_run_that_is_opened_from_the_list_has_its_models_in_its_order(run):
    app = open_view("error_desk")
    next(box for box in app.selectbox if box.label == "Run").set_value(run.dataset.sha256[:16]).run()
    assert query(app)["models"] == f"{ONE[:16]}.{TWO[:16]}" and "A The one" in texts(app)


def test_a_row_opens_with_its_texts_escaped_and_links_to_its_pair(run):
    app = page(run, row="2n")
    assert not app.exception
    assert "=SUM(A1) &lt;b&gt;toy&lt;/b&gt;" in texts(app) and "neutral</b> 60" in texts(app)
    assert "telephone" not in texts(app)
    button(app, "Next row").click().run()
    assert query(app)["row"] == "2e"


def test_a_row_opens_with_what_its_words_do_where_its_models_are_here(run, monkeypatch):
    assert "what each word does" not in texts(page(run, row="2n")), "no checkpoint has their checksums"
    here = {ONE: "test-light", TWO: "test-truncated"}
    monkeypatch.setattr("app.desk.row_effects.checkpoint_named", here.get)
    monkeypatch.setattr("app.effects.late.PATIENCE", 120)
    app = page(run, row="2n")
    assert not app.exception
    effects = next(html for element in app.get("html") if "what each word does" in (html := element.proto.body))
    row = next(row for row in run.dataset.rows if row.id == "2n")
    known = why(load_named("test-light"), row.first, row.second)
    assert effects.startswith("<style>"), "its style is no text"
    largest = max(known.words, key=lambda word: abs(word.effect))
    first = effects[effects.index("<td dir") :]
    assert first.startswith(f'<td dir="auto">{escape(largest.text)}</td>')
    assert "weights.safetensors" in effects, "a checkpoint that cannot be read says so"


def test_opened_rows_leave_nothing_behind(tmp_path):
    """What the session holds, and what Python holds in all: not 30 kB more after eight rows than before, once the
    widgets' 20 places have all been used. The better of two turns counts, because threads of other tests may end in
    one of them; what rows leave behind is there in both."""
    data = read(taxi(tmp_path, ROWS * 8))
    chances = np.tile(np.array([0.7, 0.2, 0.1], dtype=np.float32), (len(data.rows), 1))
    store.keep(Run(data, (predictions("one", chances, "a" * 64),)))
    app = open_view("error_desk", file=data.sha256[:16], models="a" * 16, row="1e")

    def opened(rows):
        for _ in range(rows):
            button(app, "Next row").click().run()
        gc.collect()
        return len(app.session_state._state.filtered_state), tracemalloc.get_traced_memory()[0]

    tracemalloc.start()
    try:
        (held, first), (_, second), (after, third) = opened(24), opened(8), opened(8)
    finally:
        tracemalloc.stop()
    assert not app.exception and after == held
    left = min(second - first, third - second)
    assert left < 30_000, f"{left:,} bytes"


def test_tags_are_given_and_undone_under_ones_name(run):
    annotations = Annotations(open_database())
    annotations.give("Bob", run.dataset.sha256, "2n", "other")
    app = write_as(page(run, row="2n"), "Ann")
    assert not app.exception and "other: Bob" in texts(app)
    pills = next(group for group in app.button_group if group.label == "Tags")
    pills.set_value(["misled by noise", "other"]).run()
    tags = annotations.state(run.dataset.sha256).row("2n").tags
    assert tags == {"other": {"Ann", "Bob"}, "misled by noise": {"Ann"}}
    next(area for area in app.text_area if area.label == "Note").set_value("why?").run()
    assert annotations.state(run.dataset.sha256).row("2n").notes == {"Ann": "why?"}
    undo = next(one for one in app.button if one.label == "Undo" and not one.disabled)
    undo.click().run()
    assert annotations.state(run.dataset.sha256).row("2n").notes == {}
    assert "name" not in app.query_params and "Ann" not in json.dumps(dict(app.query_params))


def test_the_name_of_the_login_stands_in_place_of_a_typed_one(run, monkeypatch):
    monkeypatch.setenv("PAIRLENS_USER_HEADER", "X-Remote-User")
    monkeypatch.setattr(ContextProxy, "headers", StreamlitHeaders([("x-remote-user", "Ann <b>")]))
    app = page(run, row="2n")
    assert not app.exception and "Signed in as" in texts(app) and "Ann &lt;b&gt;" in texts(app)
    assert not any(one.label == "Your name" for one in app.text_input)
    next(group for group in app.button_group if group.label == "Tags").set_value(["other"]).run()
    assert Annotations(open_database()).state(run.dataset.sha256).row("2n").tags == {"other": {"Ann <b>"}}


def test_a_change_that_another_tab_has_undone_is_not_undone_again(run):
    annotations, file = Annotations(open_database()), run.dataset.sha256
    annotations.give("Bob", file, "2n", "other")
    app = write_as(page(run, row="2n"), "Ann")
    annotations.undo("Bob", annotations.history(file, "2n")[0].id)
    annotations.give("Bob", file, "2n", "other")
    button(app, "Undo").click().run()
    assert not app.exception
    assert any("undone already" in sentence for sentence in sentences(app)) and "other: Bob" in texts(app)


def test_a_name_that_another_tab_takes_out_is_gone_from_the_page_and_its_files(run):
    annotations, file = Annotations(open_database()), run.dataset.sha256
    annotations.give("Zacharias", file, "2n", "other")
    annotations.note("Zacharias", file, "2n", "why?")
    app = page(run, row="2n")
    assert "other: Zacharias" in texts(app)
    annotations.remove_name("Zacharias")
    app.run()
    assert "Zacharias" not in texts(app) and "other: annotator 1" in texts(app)
    state = app.session_state["desk state"][1]
    assert state.row("2n").notes == {"annotator 1": "why?"}, "of which the page's files are made"


def test_the_report_has_its_rows_after_loading_again_and_for_others(run):
    app = write_as(page(run, row="2n"), "Ann")
    next(box for box in app.checkbox if box.label == "In the report").check().run()
    assert "Ann: row 2n: put it into the report" in texts(app)
    other = page(run, row="2n")
    chosen = next(box for box in other.checkbox if box.label == "In the report")
    assert chosen.value and chosen.disabled and "put it into the report" in texts(other)
    assert re.search("and 1 rows? with (its|their) attention", texts(page(run, view="files")))
    next(box for box in write_as(other, "Bob").checkbox if box.label == "In the report").uncheck().run()
    assert Annotations(open_database()).state(run.dataset.sha256).reported == ()
    app.run()
    assert not next(box for box in app.checkbox if box.label == "In the report").value


def test_an_imported_file_is_read_once_for_each_name_and_taken_under_the_last(run, monkeypatch):
    read = []
    monkeypatch.setattr("app.desk.files.read_tags", lambda text, by: read.append(by) or exchange.read_tags(text, by))
    app = write_as(page(run, view="files"), "Ann")
    app.file_uploader[0].set_value(("tags.csv", b"id,tags\n2n,other\n", "text/csv")).run()
    app.run()
    write_as(app, "Bob")
    assert read == ["Ann", "Bob"]
    next(one for one in app.button if one.label.startswith("Import")).click().run()
    assert Annotations(open_database()).state(run.dataset.sha256).row("2n").tags == {"other": {"Bob"}}


def test_scores_slices_and_models_compared(run):
    assert "Calibration of The one" in figures(page(run, view="scores"))
    drawn = figures(page(run, view="slices", of="2"))
    assert "Slices of The two" in drawn and "negation_logic" in drawn
    assert CHOSEN not in figures(page(run, view="scores"))
    assert CHOSEN in figures(page(run, view="scores", filter="not right"))
    drawn = figures(page(run, view="against"))
    assert "McNemar" in drawn and "right and not right2" in drawn
    assert 'data-filter="predicted != predicted2"' in drawn and "3 rows for which The one and The two say" in drawn


def test_the_words_with_the_largest_effect_are_computed_and_become_filters(run, checkpoints):
    assert "is not here, so no more can be computed" in texts(page(run, view="words"))
    sha256, job = read_card(checkpoints / "test-light")["sha256"], "desk strongest words job"
    store.keep(run.with_models((replace(run.models[0], sha256=sha256),)))
    app = open_view("error_desk", file=run.dataset.sha256[:16], models=sha256[:16], view="words")
    assert not app.exception and "Which words decide?" in texts(app)
    button(app, "Compute for 6 rows").click().run()
    app.session_state[job].wait(60) if job in app.session_state else None
    app.run()
    drawn = unescape(figures(app))
    assert not app.exception and "Of all 6 rows 33.3" in drawn
    assert not any(one.label.startswith("Compute for") for one in app.button), "nothing is left to compute"
    expression = re.search('data-filter="(strongest_word = .*?)">', figures(app))[1]
    app = open_view("error_desk", file=run.dataset.sha256[:16], models=sha256[:16], filter=unescape(expression))
    assert re.search("[1-6] of 6 rows", texts(app)) and "All rows are shown" not in " ".join(sentences(app))
    asked = {"file": run.dataset.sha256[:16], "models": sha256[:16], "view": "words", "way": "taken-away"}
    app = open_view("error_desk", **asked)
    assert "is taken away in turn" in texts(app) and "takes 18 passes through the model" in texts(app)
    button(app, "Compute for 6 rows").click().run()
    app.session_state[job].wait(60) if job in app.session_state else None
    app.run()
    assert not app.exception and "after the word is taken away" in unescape(figures(app))


def test_where_models_differ_is_shown_without_labels_too(run):
    rows = tuple(replace(row, label=None) for row in run.dataset.rows)
    store.keep(replace(run, dataset=replace(run.dataset, rows=rows, sha256="c" * 64)))
    app = open_view("error_desk", file="c" * 16, models=f"{ONE[:16]}.{TWO[:16]}", view="against")
    assert not app.exception and "There are no scores" in texts(app)
    assert 'data-filter="predicted != predicted2"' in figures(app) and "McNemar" not in figures(app)


def test_the_desk_says_what_a_native_speaker_would(run):
    assert "Click a row to open it; click a column name to sort." in texts(page(run))
    assert "Slices use all rows; the filter applies only to Rows and Scores." in texts(
        page(run, view="slices", filter="right")
    )
    app = page(run, view="files")
    assert "separate tags with |." in texts(app)
    assert next(one for one in app.button_group if one.label == "Show").options[-1] == "Export and import"


def test_a_probability_above_99_9_percent_is_not_100(run):
    one, two = run.models
    sure = replace(one, probabilities=np.tile(np.array([0.9996, 0.0003, 0.0001], dtype=np.float32), (6, 1)))
    store.keep(run.with_models((sure, two)))
    app = page(run, row="1e")
    assert app.dataframe[0].value["p"].tolist()[0] == "> 99.9\u00a0%" and "&gt; 99.9\u00a0%" in texts(app)


def test_agreement_and_what_is_to_settle(run):
    annotations, file = Annotations(open_database()), run.dataset.sha256
    for row in ("1e", "1c"):
        annotations.give("Ann", file, row, "other")
    annotations.give("Bob", file, "1e", "other")
    annotations.look("Bob", file, "1c")
    annotations.look("Ann", file, "2n")
    annotations.look("Bob", file, "2n")
    app = write_as(page(run, view="tags"), "Cleo")
    assert not app.exception
    assert "Agreement by tag" in figures(app) and "Tags by slice" in figures(app)
    assert "Disagreements to settle: 1 of 1" in texts(app)
    button(app, "Yes").click().run()
    assert annotations.state(file).row("1c").settled == {"other": True}
    assert "Disagreements to settle: 0 of 1" in texts(app)


def test_a_run_whose_labels_are_strange_has_no_scores_and_says_so(run):
    rows = (*run.dataset.rows[:5], replace(run.dataset.rows[5], label="maybe"))
    store.keep(replace(run, dataset=replace(run.dataset, rows=rows, sha256="c" * 64)))
    app = open_view("error_desk", file="c" * 16, models=ONE[:16], view="scores")
    assert not app.exception and "There are no scores" in texts(app)


@pytest.mark.parametrize(
    ("link", "why"),
    [
        ({"file": "d" * 16, "models": "a" * 16}, "predict the file again"),
        ({"file": "../../etc"}, "no checksum"),
        ({"file": "d" * 16, "models": "x.y"}, "no checksums"),
    ],
)
def test_a_link_to_what_is_not_there_is_one_sentence(link, why):
    app = open_view("error_desk", **link)
    assert not app.exception
    assert any(why in sentence for sentence in sentences(app))


def test_a_database_that_cannot_be_used_is_one_sentence(run, monkeypatch):
    monkeypatch.setenv("PAIRLENS_DB", "mysql://secret@host/x")
    app = page(run)
    assert not app.exception
    (sentence,) = sentences(app)
    assert "PAIRLENS_DB is no address" in sentence and "secret" not in sentence


def test_a_row_whose_id_no_database_can_hold_opens_and_says_so(run):
    rows = (replace(run.dataset.rows[0], id="x" * 6000), *run.dataset.rows[1:])
    store.keep(replace(run, dataset=replace(run.dataset, rows=rows, sha256="c" * 64)))
    app = open_view("error_desk", file="c" * 16, models="a" * 16, row="x" * 6000)
    assert not app.exception and "a dog plays in the snow" in texts(app)
    assert any("takes 6,000 bytes" in sentence for sentence in sentences(app))


def test_the_state_goes_through_the_address():
    state = DeskState("a" * 16, ("b" * 16, "c" * 16), "slices", 'gold = "x" and p > 90%', "-p", "1c#2", 2)
    again, problems = DeskState.from_parameters(state.to_parameters(), {})
    assert again == state and problems == []
    assert len(DeskState.from_parameters({"view": "x", "of": "7"}, {})[1]) == 2
    long = DeskState("a" * 16, ("b" * 16,), filter="x" * 1990)
    assert "filter" not in long.address() and long.address()["file"] == "a" * 16
    # Another file's filter and row mean nothing.
    assert state.anew(file="d" * 16) == DeskState("d" * 16, ("b" * 16, "c" * 16))


def test_an_upload_is_read_under_its_own_name_alone_and_bounded():
    text = b"premise,hypothesis,label\na,b,neutral\n"
    for name in ("../../x.csv", "C:\\y\\x.csv"):
        with choosing._as_file(name, text) as path:
            assert (path.name, path.read_bytes()) == ("x.csv", text)
    bomb = gzip.compress(text + b"a,b,neutral\n" * 100_000)
    with pytest.raises(DataError, match="holds more than 1 MB of text"), choosing._as_file("x.csv.gz", bomb) as path:
        choosing._recognised(path, 1_000_000)


def test_files_are_recognised_or_their_columns_are_asked_for(run, tmp_path):
    save(run, tmp_path / "run.parquet")
    assert choosing._recognised(tmp_path / "run.parquet", 10**6).models[1].model == "two"
    (tmp_path / "odd.csv").write_text("claim;proof\na;b\n")
    assert choosing._recognised(tmp_path / "odd.csv", 10**6) == ["claim", "proof"]


def test_a_file_of_the_servers_is_predicted_in_the_background(tmp_path, monkeypatch, checkpoints):
    folder = tmp_path / "sets"
    folder.mkdir()
    made_up_run(folder)
    monkeypatch.setenv("PAIRLENS_DATASETS", str(folder))
    app = open_view("error_desk")
    next(box for box in app.selectbox if box.label.startswith("or choose")).set_value("taxi.tsv").run()
    assert "6 rows (sentence-pair table)" in texts(app)
    chooser = next(box for box in app.multiselect if box.label.startswith("Checkpoints"))
    chooser.set_value(["test-light", "test-other"]).run()
    button(app, "Predict").click().run()
    app.session_state["desk prediction"].wait(60) if "desk prediction" in app.session_state else None
    app.run()
    assert not app.exception
    assert re.search(r"A Test light \d", texts(app))
    (known,) = store.runs()
    sha256 = [read_card(checkpoints / name)["sha256"] for name in ("test-light", "test-other")]
    assert [model.sha256 for model in known.models] == sha256

    # One of its parts is cut off: the page says that it is predicted anew.
    (part,) = (tmp_path / "desk/runs").glob(f"*-{sha256[0][:16]}.parquet")
    part.write_bytes(part.read_bytes()[:-60])
    button(app, "New run").click().run()
    next(box for box in app.selectbox if box.label.startswith("or choose")).set_value("taxi.tsv").run()
    next(box for box in app.multiselect if box.label.startswith("Checkpoints")).set_value(["test-light"]).run()
    button(app, "Predict").click().run()
    app.session_state["desk prediction"].wait(60) if "desk prediction" in app.session_state else None
    app.run()
    assert any("The kept run of Test light could not be read" in sentence for sentence in sentences(app))
    assert not app.exception and "6 of 6 rows" in texts(app)


def test_a_cluster_that_is_not_there_is_one_sentence(tmp_path, monkeypatch, checkpoints):
    folder = tmp_path / "sets"
    folder.mkdir()
    made_up_run(folder)
    monkeypatch.setenv("PAIRLENS_DATASETS", str(folder))
    monkeypatch.setenv("PAIRLENS_RAY", "127.0.0.1:1")
    app = open_view("error_desk")
    next(box for box in app.selectbox if box.label.startswith("or choose")).set_value("taxi.tsv").run()
    next(box for box in app.multiselect if box.label.startswith("Checkpoints")).set_value(["test-light"]).run()
    button(app, "Predict").click().run()
    told = "There is no Ray cluster at 127.0.0.1:1: start one (docs/cluster.md)"
    if not any(told in sentence for sentence in sentences(app)):
        app.session_state["desk prediction"].wait(60)
        app.run()
        assert any(told in sentence for sentence in sentences(app))
    assert not app.exception and store.runs() == []


def test_a_store_of_runs_that_cannot_be_used_is_one_sentence(monkeypatch):
    monkeypatch.setenv("PAIRLENS_RUNS", "nonsense://ann:secret@somewhere/runs")
    app = open_view("error_desk")
    (told,) = (sentence for sentence in sentences(app) if "store of runs" in sentence)
    assert not app.exception and "check the address in PAIRLENS_RUNS" in told and "secret" not in told


def test_who_comes_second_waits_sees_the_place_and_can_cancel(monkeypatch):
    queue = JobQueue()
    monkeypatch.setattr("app.desk.jobs.QUEUE", queue)
    jobs = queue_of(3, queue)
    assert jobs[0].works.wait(30)
    app = open_view("error_desk")
    bars = [bar.proto.text.replace("\\", "") for bar in app.get("progress")]
    assert bars[0].startswith("The prediction of 0.csv: 0 of 3 rows")
    assert bars[1:] == [f"The prediction of {n}.csv: 3 rows, number {n} in the queue" for n in (1, 2)]
    [one for one in app.button if one.label == "Cancel"][1].click().run()
    assert not app.exception and jobs[1].finished and queue.jobs() == (jobs[0], jobs[2])
    assert app.get("progress")[1].proto.text.endswith("number 1 in the queue")
    for job in (jobs[0], jobs[2]):
        job.let_go.set()
        assert job.wait(30)


def test_a_job_that_stopped_with_its_server_is_told_until_somebody_puts_it_away(monkeypatch):
    note = job_notes.note("The prediction of <b>taxi.tsv</b> by test-light", 6)
    assert not any("stopped" in sentence for sentence in sentences(open_view("error_desk"))), "its server lives"
    note._lock.release()  # as the system does when the process ends
    app = open_view("error_desk")
    told = "The prediction of &lt;b&gt;taxi.tsv&lt;/b&gt; by test-light (6 rows) stopped when its server did."
    assert any(told in sentence for sentence in sentences(app))
    button(app, "Put away").click().run()
    assert not app.exception and not any("stopped" in sentence for sentence in sentences(app))


def test_a_folder_of_parts_opens_as_one_run(tmp_path, monkeypatch, checkpoints):
    folder = tmp_path / "sets"
    folder.mkdir()
    made_up_run(folder)
    monkeypatch.setenv("PAIRLENS_DATASETS", str(folder))
    monkeypatch.setattr("core.evaluation.parts.ROWS", 4)
    command = ["predict", str(checkpoints / "test-light"), str(folder / "taxi.tsv"), "--out", f"{folder}/in-parts/"]
    assert main(command) == 0
    app = open_view("error_desk")
    box = next(box for box in app.selectbox if box.label.startswith("or choose"))
    assert box.options == ["in-parts", "taxi.tsv"] and len(list(folder.glob("in-parts/*.parquet"))) == 2
    box.set_value("in-parts").run()
    assert not app.exception and "6 of 6 rows" in texts(app)
    (known,) = store.runs()
    assert (known.name, known.rows) == ("taxi.tsv", 6)
    (folder / "in-parts/part-00001.parquet").unlink()
    button(app, "New run").click().run()
    next(box for box in app.selectbox if box.label.startswith("or choose")).set_value("in-parts").run()
    assert any("part-00001.parquet of in-parts is missing or cut off" in sentence for sentence in sentences(app))


def test_fevers_claims_are_read_and_labels_get_the_models_names_on_screen(tmp_path, monkeypatch):
    checkpoints, sets = tmp_path / "checkpoints", tmp_path / "sets"
    sets.mkdir()
    make_checkpoint(
        checkpoints,
        "test-claims",
        "Test claims",
        9,
        task="fact checking",
        labels=["true", "false", "not enough info"],
        roles={"first": "claim", "second": "evidence", "judged": "claim"},
    )
    monkeypatch.setenv("PAIRLENS_CHECKPOINTS", str(checkpoints))
    monkeypatch.setenv("PAIRLENS_DATASETS", str(sets))
    claims = [
        ("SUPPORTS", "a dog is outside", ["a dog is in the snow", "the snow is outside"]),
        ("REFUTES", "a cat is cold", ["the cat is not cold"]),
        ("NOT ENOUGH INFO", "the toy is plastic", []),
    ]
    lines = [{"id": i, "label": label, "claim": c, "evidence": e} for i, (label, c, e) in enumerate(claims)]
    (sets / "fever.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))

    def predicted(**names):
        app = open_view("error_desk")
        next(box for box in app.selectbox if box.label.startswith("or choose")).set_value("fever.jsonl").run()
        assert "3 rows (FEVER jsonl)" in texts(app)
        next(box for box in app.multiselect if box.label.startswith("Checkpoints")).set_value(["test-claims"]).run()
        for label, name in names.items():
            next(box for box in app.selectbox if box.label == f"“{label}” is").set_value(name).run()
        strange = any("are not all classes of Test claims" in sentence for sentence in sentences(app))
        button(app, "Predict").click().run()
        app.session_state["desk prediction"].wait(60) if "desk prediction" in app.session_state else None
        app.run()
        assert not app.exception
        return app, strange

    app, strange = predicted()
    assert strange and "There are no scores" in texts(app)
    assert "right" not in texts(app).split("Test claims")[1][:20]
    app, strange = predicted(supports="true", refutes="false")
    assert not strange and re.search(r"A Test claims \d+\.\d\u00a0% right", texts(app))
    assert app.dataframe[0].value["gold"].tolist() == ["true", "false", "not enough info"]
    assert "Confusion of Test claims" in figures(app)
    app, strange = predicted(supports="true", refutes="no class: its rows get no scores")
    assert not strange and re.search(r"A Test claims \d+\.\d\u00a0% right", texts(app))
    assert app.dataframe[0].value["gold"].fillna("").tolist() == ["true", "", "not enough info"]
