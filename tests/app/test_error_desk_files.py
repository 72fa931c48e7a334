"""The Error desk's files: reading, predicting, their order, and the messages shown."""

import gzip
import io
import json
import re
import shutil
import tracemalloc
import zipfile
from argparse import Namespace
from dataclasses import replace

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from filelock import FileLock

from app.desk import file_choice, jobs
from core.card import Roles
from core.checkpoint import available, read_card
from core.data import DataError, read
from core.desk import store
from core.desk.annotations import Annotations
from core.desk.database import open_database
from core.desk.exchange import EXPORTS, Export
from core.desk.jobs import Job, JobQueue
from core.desk.run_folder import header_of, load, model_file
from core.desk.unfinished_run import LOCK, PARTS, unfinished
from core.errors import DeskError
from tests.app.desk_page import button, figures, page, texts, write_as
from tests.app.made_up_models import make_checkpoint
from tests.app.pages import open_view, sentences
from tests.core.made_up_runs import ONE, keep, made_up_run, predictions, save, stored, taxi
from tests.core.test_job_queue import queue_of
from trainers.__main__ import main

pytestmark = pytest.mark.usefixtures("own_desk")


def test_an_upload_is_read_only_under_its_own_name_up_to_a_limit():
    text = b"premise,hypothesis,label\na,b,neutral\n"
    for name in ("../../x.csv", "C:\\y\\x.csv"):
        with file_choice.as_file(name, text) as path:
            assert (path.name, path.read_bytes()) == ("x.csv", text)
    bomb = gzip.compress(text + b"a,b,neutral\n" * 100_000)
    with pytest.raises(DataError, match="holds more than 1 MB of text"), file_choice.as_file("x.csv.gz", bomb) as path:
        file_choice.recognised(path, 1_000_000)


def test_files_are_recognised_or_their_columns_are_asked_for(kept_run, tmp_path):
    save(kept_run, tmp_path / "run")
    with zipfile.ZipFile(tmp_path / "run.zip", "w") as packed:
        for path in (tmp_path / "run").iterdir():
            packed.write(path, f"run/{path.name}")
    for name in ("run", "run.zip"):
        assert file_choice.recognised(tmp_path / name, 10**6).models[1].model == "two"
    with pytest.raises(DeskError, match="unpacks to more than"):
        file_choice.recognised(tmp_path / "run.zip", 1000)
    (tmp_path / "bad.zip").write_bytes(b"PK")
    with pytest.raises(DeskError, match="is not a readable"):
        file_choice.recognised(tmp_path / "bad.zip", 10**6)
    (tmp_path / "odd.csv").write_text("claim;proof\na;b\n")
    seen = file_choice.recognised(tmp_path / "odd.csv", 10**6)
    assert (seen.names, seen.doubtful) == (("claim", "proof"), False)
    pq.write_table(pa.table({"premise": ["a"], "hypothesis": ["b"]}), tmp_path / "data.parquet")
    assert file_choice.recognised(tmp_path / "data.parquet", 10**6).rows[0].second == "b"


def zip_of(folder, path, method=zipfile.ZIP_DEFLATED):
    with zipfile.ZipFile(path, "w", method) as packed:
        for file in folder.iterdir():
            packed.write(file, file.name)
    return path


def test_a_damaged_zipped_run_is_named_as_the_user_named_it(kept_run, tmp_path):
    save(kept_run, tmp_path / "run")
    (tmp_path / "run" / model_file(ONE)).write_bytes(b"PAR1")
    with pytest.raises(DeskError, match=r"^my run\.zip is damaged"):
        file_choice.recognised(zip_of(tmp_path / "run", tmp_path / "my run.zip"), 10**6)
    (tmp_path / "run" / "run.json").unlink()
    with pytest.raises(DeskError, match=r"there is no run my run\.zip"):
        file_choice.recognised(zip_of(tmp_path / "run", tmp_path / "my run.zip"), 10**6)


def lying(content: bytes, said: int) -> bytes:
    """A zip file whose directory states another size for its only member."""
    at = content.rindex(b"PK\1\2") + 24
    return content[:at] + said.to_bytes(4, "little") + content[at + 4 :]


@pytest.mark.parametrize("kind", ["size", "members", "method", "cut"])
def test_a_zip_that_is_a_trap_is_refused_at_little_cost(kind, tmp_path):
    """The directory lies about sizes, has 200,000 empty members, or a method that inflates all at once."""
    method = zipfile.ZIP_BZIP2 if kind == "method" else zipfile.ZIP_DEFLATED
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", method) as archive:
        archive.writestr("run.json", b" " * (5_000_000 if kind == "cut" else 50_000_000))
    content = packed.getvalue()
    if kind == "size":
        content = lying(content, 10)
    elif kind == "cut":
        content = content[:1000] + b"\xff" * 1000 + content[2000:]
    elif kind == "members":
        entry = content[content.rindex(b"PK\1\2") : content.rindex(b"PK\5\6")]
        end = content[content.rindex(b"PK\5\6") :]
        size = (200_000 * len(entry)).to_bytes(4, "little")
        content = content[: -len(end) - len(entry)] + 200_000 * entry + end[:12] + size + end[16:]
    for name, refused in (("x.zip", DeskError), ("x.xlsx", DataError)):
        (tmp_path / name).write_bytes(content)
        tracemalloc.start()
        with pytest.raises(refused, match=r"x\.(zip|xlsx) (is not a readable|is a? ?damaged|unpacks to|holds more)"):
            file_choice.recognised(tmp_path / name, 10_000_000)
        assert tracemalloc.get_traced_memory()[1] < 30_000_000
        tracemalloc.stop()


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
    app.session_state["desk prediction"].future.result(600) if "desk prediction" in app.session_state else None
    app.run()
    assert not app.exception
    assert re.search(r"A Test light \d", texts(app))
    (known,) = store.runs()
    sha256 = [read_card(checkpoints / name)["sha256"] for name in ("test-light", "test-other")]
    assert [model.sha256 for model in known.models] == sha256

    # One of its files is truncated: it is predicted again.
    (part,) = (tmp_path / "desk/runs").glob(f"*/{model_file(sha256[0])}")
    part.write_bytes(part.read_bytes()[:-60])
    button(app, "New run").click().run()
    next(box for box in app.selectbox if box.label.startswith("or choose")).set_value("taxi.tsv").run()
    next(box for box in app.multiselect if box.label.startswith("Checkpoints")).set_value(["test-light"]).run()
    button(app, "Predict").click().run()
    app.session_state["desk prediction"].future.result(600) if "desk prediction" in app.session_state else None
    app.run()
    assert not app.exception and "6 of 6 rows" in texts(app)


def test_whoever_made_a_run_may_delete_it(tmp_path, monkeypatch, checkpoints):
    monkeypatch.setenv("PAIRLENS_DATASETS", str(tmp_path))
    file = read(taxi(tmp_path)).sha256

    def opened(name):
        return write_as(open_view("error_desk", file=file[:16], models=model[:16], view="files"), name)

    app = open_view("error_desk")
    assert "All visitors to this server see all runs" in texts(app)
    write_as(app, "Ann")
    next(box for box in app.selectbox if box.label.startswith("or choose")).set_value("taxi.tsv").run()
    chooser_of(app).set_value(["test-light"]).run()
    predicted_by(app)
    (model,) = (known.sha256 for known in store.runs()[0].models)
    app = opened("Bob")
    assert "Ann made this run and can delete it" in texts(app)
    assert not any(one.label.startswith("Delete the run") for one in app.button)
    # Whoever adds a model to a run does not become its owner.
    app = open_view("error_desk")
    write_as(app, "Bob")
    next(box for box in app.selectbox if box.label.startswith("or choose")).set_value("taxi.tsv").run()
    chooser_of(app).set_value(["test-other"]).run()
    predicted_by(app)
    with FileLock(folder_with_parts(file) / LOCK):
        app = opened("Ann")
        button(app, "Delete the run of taxi\\.tsv").click().run()
        assert any("being predicted: cancel" in sentence for sentence in sentences(app)) and store.has_run(file)
    app = opened("Ann")
    button(app, "Delete the run of taxi\\.tsv").click().run()
    assert not app.exception and not store.has_run(file) and not [*(tmp_path / "desk/runs").iterdir()]
    assert any("run of taxi.tsv is deleted" in sentence for sentence in sentences(app))
    # A run without a name has no owner, even if an earlier run had one; an uploaded file's run belongs to its uploader.
    keep(made_up_run(tmp_path))
    Annotations(open_database()).made("", file)
    model = ONE
    assert "No name is stored with this run" in texts(opened("Ann"))
    store.delete(file)
    save(made_up_run(tmp_path), tmp_path / "run")
    app = open_view("error_desk")
    write_as(app, "Bob")
    next(box for box in app.selectbox if box.label.startswith("or choose")).set_value("run").run()
    assert "Bob made this run" in texts(opened("Ann"))


def folder_with_parts(file):
    """As if a prediction of the file were running."""
    parts = store.folder_of(file) / f"{PARTS}x"
    parts.mkdir()
    return parts


def test_the_export_names_what_it_withholds_and_the_remedy(kept_run, monkeypatch):
    annotations, file = Annotations(open_database()), kept_run.dataset.sha256
    annotations.look("Bob", file, "1e")
    for row in ("1e", "1c", "1n"):
        annotations.give("Ann", file, row, "other")

    def told(app):
        return " ".join(sentence for sentence in sentences(app) if "Without" in sentence)

    app = page(kept_run, view="files")
    assert "Without 4 reviews by others" in told(app) and "type your name in the sidebar, and switch off" in told(app)
    assert "“Hide others’ tags and labels until a row is done” under Tags" in told(app)
    assert "Without 1 review by others" in told(write_as(app, "Ann")), "Bob’s"
    bobs = told(write_as(app, "Bob"))
    assert "Without 2 reviews by others" in bobs and "type your name" not in bobs, "one is of a row that he has done"
    annotations.blind("Ann", file, False)
    monkeypatch.setattr("app.desk.files.EXPORTS", (*EXPORTS, Export("Keys (text)", ".txt", lambda *_: "")))
    assert not told(app.run())
    files = [part.proto.label for part in app.get("download_button")]
    assert files[: len(EXPORTS) + 1] == [*(one.title for one in EXPORTS), "Keys (text)"]


@pytest.mark.parametrize("setting", ["PAIRLENS_DESK", "PAIRLENS_RUNS"])
def test_a_read_only_desk_folder_is_one_sentence_with_its_setting(tmp_path, monkeypatch, setting, kept_run):
    save(kept_run, tmp_path / "run")
    monkeypatch.setenv(setting, "/proc")  # read-only for every user
    if setting == "PAIRLENS_DESK":
        app = open_view("error_desk", file=kept_run.dataset.sha256[:16], models=ONE[:16])
        assert not app.exception
    with pytest.raises(DeskError) as refused:
        store.adopt(tmp_path / "run")
    with pytest.raises(DeskError, match=setting):
        file_choice.recognised(tmp_path / "run", 10**6)
    assert f"set {setting} to a folder that can be" in str(refused.value) and "/proc" not in str(refused.value)


def test_runs_in_a_bucket_are_one_sentence(monkeypatch):
    monkeypatch.setenv("PAIRLENS_RUNS", "nonsense://ann:secret@somewhere/runs")
    app = open_view("error_desk")
    (told,) = (sentence for sentence in sentences(app) if "PAIRLENS_RUNS" in sentence)
    assert not app.exception and "set it to a folder" in told and "secret" not in told


def test_who_comes_second_waits_sees_the_place_and_can_cancel(monkeypatch):
    queue = JobQueue()
    monkeypatch.setattr("app.desk.jobs.QUEUE", queue)
    jobs = queue_of(3, queue)
    assert jobs[0].works.wait(600)
    app = open_view("error_desk")
    bars = [bar.proto.text.replace("\\", "") for bar in app.get("progress")]
    assert bars[0].startswith("The prediction of 0.csv: 0 of 3 rows")
    assert bars[1:] == [f"The prediction of {n}.csv: 3 rows, queued (position {n})" for n in (1, 2)]
    [one for one in app.button if one.label == "Cancel"][1].click().run()
    assert not app.exception and jobs[1].finished and queue.jobs() == (jobs[0], jobs[2])
    assert "position 1" in app.get("progress")[1].proto.text
    for job in (jobs[0], jobs[2]):
        job.let_go.set()
        assert job.future.result(600) is None


def test_an_unfinished_prediction_is_listed_until_it_is_deleted(kept_run):
    header = header_of(replace(kept_run.dataset, name="<b>snli</b>", sha256="c" * 64), kept_run.models)
    with unfinished(store.folder_of("c" * 64), header):
        assert not sentences(open_view("error_desk")), "it runs"
        parts = store.folder_of("c" * 64)
        for own in parts.glob(".parts-*"):
            store.delete_parts(own)
        shutil.copytree(parts, parts.parent / "copy")  # as if the process had ended
    app = open_view("error_desk")
    assert any("The prediction of &lt;b&gt;snli&lt;/b&gt; is unfinished" in sentence for sentence in sentences(app))
    button(app, "Delete").click().run()
    assert not app.exception and not sentences(app) and not list(parts.parent.glob("copy/.parts-*"))


def test_the_folder_of_a_run_is_opened(tmp_path, monkeypatch, checkpoints):
    folder = tmp_path / "sets"
    folder.mkdir()
    taxi(folder)
    monkeypatch.setenv("PAIRLENS_DATASETS", str(folder))
    command = ["predict", str(checkpoints / "test-light"), str(folder / "taxi.tsv"), "--out", f"{folder}/a-run/"]
    assert main(command) == 0
    app = open_view("error_desk")
    box = next(box for box in app.selectbox if box.label.startswith("or choose"))
    assert box.options == ["a-run", "taxi.tsv"]
    box.set_value("a-run").run()
    assert not app.exception and "6 of 6 rows" in texts(app)
    (known,) = store.runs()
    assert (known.name, known.rows) == ("taxi.tsv", 6)
    (folder / "a-run/data.parquet").unlink()
    button(app, "New run").click().run()
    next(box for box in app.selectbox if box.label.startswith("or choose")).set_value("a-run").run()
    assert any("predict the file again" in sentence for sentence in sentences(app))


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
            next(box for box in app.multiselect if box.label == f"“{label}” is").set_value(name).run()
        strange = any("get no scores" in sentence for sentence in sentences(app))
        button(app, "Predict").click().run()
        app.session_state["desk prediction"].future.result(600) if "desk prediction" in app.session_state else None
        app.run()
        assert not app.exception
        return app, strange

    app, strange = predicted(SUPPORTS=[], REFUTES=[])
    assert strange and "There are no scores" in texts(app)
    assert "right" not in texts(app).split("Test claims")[1][:20]
    app, strange = predicted()  # by meaning
    assert not strange and re.search(r"A Test claims \d+\.\d\u00a0% right", texts(app))
    assert app.dataframe[0].value["gold"].tolist() == ["SUPPORTS", "REFUTES", "NOT ENOUGH INFO"]
    assert "Confusion of Test claims" in figures(app)
    app, strange = predicted(REFUTES=["no matching class (rows not scored)"])
    assert not strange and re.search(r"A Test claims \d+\.\d\u00a0% right", texts(app))
    assert "2 of them scored" in texts(app) or "2 of 3 rows" in texts(app)
    assert app.dataframe[0].value["gold"].tolist() == ["SUPPORTS", "REFUTES", "NOT ENOUGH INFO"]


def opened_file(name):
    app = open_view("error_desk")
    return next(box for box in app.selectbox if box.label.startswith("or choose")).set_value(name).run()


def chooser_of(app):
    return next(box for box in app.multiselect if box.label.startswith("Checkpoints"))


def predicted_by(app):
    button(app, "Predict").click().run()
    app.session_state["desk prediction"].future.result(60) if "desk prediction" in app.session_state else None
    app.run()
    assert not app.exception
    return app


def test_classes_that_count_as_one_label_are_chosen_on_screen(tmp_path, monkeypatch, checkpoints):
    monkeypatch.setenv("PAIRLENS_DATASETS", str(tmp_path))
    lines = ["sentence1\tsentence2\tgold_label", "a dog\ta dog\tentailment", "a dog\ta cat\tNon-Entailment"]
    (tmp_path / "hans.txt").write_text("\n".join([*lines, "a cat\ta dog\t-1", ""]))
    app = opened_file("hans.txt")
    assert "2 of 3 rows have a label" in texts(app)
    chooser_of(app).set_value(["test-light"]).run()
    form = next(box for box in app.multiselect if box.label.replace("\\", "") == "“Non-Entailment” is")
    assert form.value == ["neutral", "contradiction"]
    assert not any(box.label == "“entailment” is" for box in app.multiselect)
    app = predicted_by(app)
    assert "2 of 3 rows have a label" in texts(app)
    assert re.search(
        r"A Test light \d+\.\d\u00a0% right \(.*\), \d+\.\d\u00a0% by the likeliest class first", texts(app)
    )
    assert app.dataframe[0].value["gold"].fillna("").tolist() == ["entailment", "Non-Entailment", ""]
    (known,) = store.runs()
    assert known.models[0].counts_as == {"non-entailment": ("neutral", "contradiction")}
    # The same file on the command line gives the same answer.
    options = ["--label", "non-entailment=neutral,contradiction", "--out", str(tmp_path / "run")]
    assert main(["predict", str(checkpoints / "test-light"), str(tmp_path / "hans.txt"), *options]) == 0
    run, kept = load(tmp_path / "run"), store.open_run(known.sha256, [known.models[0].sha256])
    assert (run.right(0) == kept.right(0)).all() and (run.judged == kept.judged).all()


def test_classes_that_clash_cannot_be_predicted_with(tmp_path, monkeypatch, checkpoints):
    monkeypatch.setenv("PAIRLENS_DATASETS", str(tmp_path))
    (tmp_path / "x.csv").write_text("premise,hypothesis,label\na,b,yes\na,c,no\n")
    app = opened_file("x.csv")
    chooser_of(app).set_value(["test-light"]).run()
    next(box for box in app.multiselect if box.label == "“yes” is").set_value(["entailment", "neutral"]).run()
    assert any("counts as both" in sentence for sentence in sentences(app))
    assert not any(one.label == "Predict" for one in app.button)


def test_the_task_of_a_file_chooses_the_model_and_another_task_is_warned_of(tmp_path, monkeypatch):
    folder = tmp_path / "checkpoints"
    monkeypatch.setenv("PAIRLENS_CHECKPOINTS", str(folder))
    monkeypatch.setenv("PAIRLENS_DATASETS", str(tmp_path))
    two = {"labels": ["0", "1"], "config": {"input_size": 16, "hidden": 12, "classes": 2, "context": "extra"}}
    roles = {"first": "question", "second": "answer", "judged": "answer"}
    make_checkpoint(folder, "answers", "Answers", 1, task="answer selection", roles=roles, **two)
    roles = {"first": "question 1", "second": "question 2", "judged": "question 2"}
    make_checkpoint(folder, "same", "Same", 2, task="paraphrase", roles=roles, **two)
    make_checkpoint(folder, "nli", "NLI", 3)
    for name, text, task in (
        ("quora.tsv", "1\ta?\tb?\t7\n0\tc?\td?\t8\n", "paraphrase"),
        ("quora.csv", "id,question1,question2,is_duplicate\n1,a?,b?,1\n", "paraphrase"),
        ("pairs.csv", "sentence1,sentence2,label\na,b,1\n", "paraphrase"),
        ("answers.csv", "question,answer,label\na?,b,1\n", "answer selection"),
        ("rte.csv", "sentence1,sentence2,label\na,b,not_entailment\n", "entailment"),
    ):
        (tmp_path / name).write_text(text)
        (chosen,) = chooser_of(opened_file(name)).value
        assert read_card(available()[chosen])["task"] == task
    app = opened_file("quora.tsv")
    assert not any("data set for" in sentence for sentence in sentences(app))
    chooser_of(app).set_value(["answers"]).run()
    assert any("quora.tsv is a data set for paraphrase, but Answers" in sentence for sentence in sentences(app))


def test_rankers_answers_have_the_names_of_classes(tmp_path):
    (tmp_path / "qa.csv").write_text("question,answer,label\nwhat?,a toy,1\nwhat?,snow,0.0\n")
    model = predictions("one", [[0.2, 0.8], [0.7, 0.3]], ONE, ("0", "1"))
    model = replace(model, roles=Roles("question", "answer", "answer"), task="answer selection")
    run = stored(read(tmp_path / "qa.csv"), (model,))
    keep(run)
    app = open_view("error_desk", file=run.dataset.sha256[:16], models=ONE[:16], row=run.keys[0])
    assert not app.exception and "MAP 1.0000 (1.0000 – 1.0000)" in texts(app)
    assert app.dataframe[0].value["A"].tolist() == ["answer", "not an answer"]
    assert app.dataframe[0].value["gold"].tolist() == ["1", "0.0"]
    assert "<b>answer</b> 80" in texts(app) and ", right" in texts(app)


def test_all_running_jobs_about_a_file_can_be_cancelled(monkeypatch):
    shown = []
    queued = [Job(what, 1, lambda job: None, (what[-1], 1)) for what in ("one of a", "one of b", "two of a")]
    monkeypatch.setattr("app.desk.jobs.QUEUE", Namespace(jobs=lambda: queued))
    monkeypatch.setattr("app.desk.jobs.draw", lambda job: shown.append(job.what))
    assert jobs.draw_running("a", 1) and shown == ["one of a", "two of a"]
    assert not jobs.draw_running("c", 1) and not jobs.draw_running("a", 2)
