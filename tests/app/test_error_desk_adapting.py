"""The Error desk's offer for classes that no model has: divide, adapt, test, and simpler models for comparison."""

from __future__ import annotations

import csv
import json
import math
import re
import shutil

import pytest

from app import own_models
from app.desk import adapting, choosing
from app.page_state.explore import ExploreState
from core import training_progress
from core.checkpoint import PRETRAINED, available, dynamics, load_named, read_card, title_of
from core.checkpoint.unlisted import TRAINING, base_of, folder_of, made_by, new_name
from core.data import read
from core.data.corrected import NewLabel
from core.desk import adapted_run, source, store, trainer, training
from core.desk.adapted_run import adaptation, division, held_out_rows, remarks, score_context
from core.desk.jobs import TRAININGS, Cancelled, Job
from core.errors import DeskError, UserError
from core.evaluation.calibration import log_loss
from core.explain import explain
from core.training_progress import Epoch, TrainingProgress
from tests.app.desk_page import button, figures, texts
from tests.app.pages import components, open_view, query, sentences

pytestmark = pytest.mark.usefixtures("own_desk")
_SHIPPED = PRETRAINED
SAME, OTHER = "same event", "different event"


def pairs_file(folder, name="events.csv", rows=(), header=("Report", "Follow-up", "Verdict")):
    """Rows of one's own headers and classes: 40 pairs whose first texts each occur once."""
    animals = ("dog", "cat", "man", "woman")
    made = [
        (f"a {animals[n % 4]} is outside in the snow number {n}", f"the {animals[(n + n % 2) % 4]} is outside {n}")
        for n in range(40)
    ]
    rows = rows or [(*pair, (SAME, OTHER)[n % 2]) for n, pair in enumerate(made)]
    with (folder / name).open("w", newline="", encoding="utf-8") as file:
        csv.writer(file).writerows([header, *rows])
    return folder / name


def opened(name):
    app = open_view("error_desk")
    return next(box for box in app.selectbox if box.label.startswith("or choose")).set_value(name).run()


def box_of(app, label):
    return next(box for box in app.selectbox if box.label == label)


def check_columns(app):
    """The columns are guessed from their cells."""
    for label, name in (("First text", "Report"), ("Second text", "Follow-up"), ("Label", "Verdict"), ("Id", "(none)")):
        assert box_of(app, label).value == name


def finished(app):
    if adapting.JOB in app.session_state:
        app.session_state[adapting.JOB].future.result(600)
    return app.run()


def test_a_file_of_new_classes_becomes_a_score_on_held_out_rows(tmp_path, monkeypatch, checkpoints):
    monkeypatch.setenv("PAIRLENS_DATASETS", str(tmp_path))
    pairs_file(tmp_path)
    app = opened("events.csv")
    check_columns(app)
    said = texts(app)
    assert "These 2 classes are new (different event, same event). Adapt a model to 32 of these rows" in said
    assert "test it on the other 8?" in said and not any(box.label.startswith("“") for box in app.multiselect)
    assert sum(app.dataframe[0].value["training rows"]) == 32
    # The progress stands where the button was clicked, not only at the top of a long page.
    app.session_state[adapting.JOB] = Job("Adapting a model", 40, lambda job: None)
    app.run()
    assert (
        "Adapt and test" not in [one.label for one in app.button]
        and "Adapting a model" in app.get("progress")[0].proto.text
    )
    app.session_state[adapting.JOB].cancel()
    app.run()
    assert "The adaptation was cancelled; nothing of it is kept." in sentences(app)[-1], "below the button"
    assert any(one.label == "Adapt and test" for one in app.button)
    button(app, "Which model?").click().run()
    app.session_state[adapting.COMPARISON].future.result(600)
    app.run()
    assert "Cross-validated on 32 rows: " in texts(app) and not app.exception
    box_of(app, "Model to adapt").set_value("test-light").run()
    button(app, "Adapt and test").click().run()
    app = finished(app)
    assert not app.exception and not sentences(app)
    said = texts(app)
    assert "events.csv, held out: 8 rows" in said and re.search(
        r"A Test light \+ 32 pairs \d+\.\d\u00a0% right \(", said
    )
    for name in ("majority class 50.0", "TF-IDF with word overlap", "the Report alone", "the Follow-up alone"):
        assert name in said
    drawn = figures(app)
    assert "ore labels would" in drawn
    assert "Learning curve of Test light + 32 pairs" in drawn and "25 rows" in drawn and "32 rows" in drawn
    chart = json.loads(app.get("vega_lite_chart")[0].proto.spec)
    assert "Learning curve" in chart["description"]
    # The model is found by its name, and is in no list; its texts and classes are the file's.
    (run,) = store.runs()
    (model,) = run.models
    assert base_of(model.model) == "test-light" and model.model not in [*available()]
    assert (model.roles.first, model.roles.second, model.roles.judged) == ("Report", "Follow-up", "Follow-up")
    assert set(model.labels) == {SAME, OTHER} and load_named(model.model).labels == model.labels
    # A label corrected here goes into the whole file, for the next round, under the file's own headers.
    before = (tmp_path / "events.csv").read_text(encoding="utf-8").splitlines()
    made = source.corrected_file(store.open_run(run.sha256), {2: NewLabel("unclear", "Ann")})
    after = made.content.decode().splitlines()
    assert after[0] == f"{before[0]},label_before,label_by" and len(after) == len(before) == 41
    assert adapted_run._title(load_named("test-light"), 32, 1) == "Test light + 32 pairs, 1 corrected"
    changed = [place for place, line in enumerate(after) if line.endswith(",Ann")]
    assert [f"line {place + 1}" for place in changed] == [store.open_run(run.sha256).keys[2]]
    # Another visitor's offer stands; this session lists the model, and its training rows are scored apart.
    other = opened("events.csv")
    check_columns(other)
    assert "These 2 classes are new" in texts(other)
    next(box for box in other.radio if box.label == "What to do with this file?").set_value(adapting._PREDICT).run()
    assert any(box.label == f"“{SAME}” is" for box in other.multiselect) and not other.exception
    # Nothing can be learned from a file without labels.
    pairs_file(tmp_path, "unlabelled.csv", [("a dog", "a cat")], ("premise", "hypothesis"))
    bare = opened("unlabelled.csv")
    assert not bare.exception and "What to do with this file?" not in [box.label for box in bare.radio]
    button(app, "New run").click().run()
    next(box for box in app.selectbox if box.label.startswith("or choose")).set_value("events.csv").run()
    check_columns(app)
    assert next(box for box in app.multiselect if box.label.startswith("Checkpoints")).value == [model.model]
    button(app, "Predict").click().run()
    app.session_state[choosing._JOB].future.result(600) if choosing._JOB in app.session_state else None
    app.run()
    (told,) = sentences(app)
    assert "learned from 32 of these 40 rows; it is right on" in told and "of these (" in told
    card = open_view("models", model=model.model)
    assert "Unlisted: for a day, only people with its link" in texts(card)
    save = {box.label: box for box in card.text_input}["Save it for all visitors of this server, under the name"]
    save.set_value("my-model")
    button(card, "Save the model").click().run()
    assert "my-model" in available() and query(card)["model"] == "my-model" and not card.exception
    link = query(app)
    app = open_view("error_desk", **link | {"view": "rows", "filter": "not A.learned"})
    assert "8 of 40 rows" in texts(app) and not app.exception
    # A saved model that knows the classes joins the run, after its model. The list is of titles, and no name opens one.
    app = open_view("error_desk", **link | {"view": "against"})
    assert "compared here: choose them in the sidebar, or add one" in texts(app)
    assert box_of(app, "Another model").options == ["my-model"]
    button(app, "Predict these rows with it").click().run()
    job = app.session_state["desk prediction by another model"]
    assert job.what == "The prediction of events.csv by my-model"
    job.future.result(600)
    app.run()
    assert "B − A = " in figures(app) and query(app)["models"].startswith(f"{link['models']}.") and not app.exception
    assert title_of(model.model) == "Test light + 32 pairs" and title_of(new_name("gone")) == "gone"
    # Leaving the run clears the list of runs, where it can be opened again.
    button(app, "New run").click().run()
    assert box_of(app, "Run").value is None


def test_rows_that_cannot_be_learned_from_are_one_sentence(tmp_path):
    def refused(rows):
        dataset = read(pairs_file(tmp_path, rows=rows, header=("premise", "hypothesis", "label")))
        with pytest.raises(UserError) as error:
            division(dataset)
        return str(error.value)

    pairs = [(f"text {n}", f"other {n}") for n in range(400)]
    assert "every label of events.csv is 'a'" in refused([(*pair, "a") for pair in pairs])
    assert "400 different values, and at most 300" in refused([(*pair, f"class {n}") for n, pair in enumerate(pairs)])
    assert "look like grades" in refused([(*pair, f"{n / 10:.1f}") for n, pair in enumerate(pairs)])
    assert "cannot be divided" in refused([("one text", "another", "ab"[n % 2]) for n in range(5)])
    rows = [(*pair, "ab"[n % 2]) for n, pair in enumerate(pairs[:30])]
    rows += [("text 1", "other 1", "a"), ("alone", "of its class", "c"), ("not", "labelled", "")]
    dataset = read(pairs_file(tmp_path, rows=rows, header=("premise", "hypothesis", "label")), labelled=False)
    divided = division(dataset)
    (few, twice, unlabelled) = remarks(dataset, divided)
    assert "test “c”: the score" in few and twice.startswith(
        "1 pair with two labels, such as “text 1” / “other 1”: “a” and “b”"
    )
    assert unlabelled == "1 row without a label will be predicted, too."
    texts_of = [
        {text for at in part for text in (dataset.rows[at].first, dataset.rows[at].second)}
        for part in (divided.train, divided.held_out)
    ]
    assert not texts_of[0] & texts_of[1]
    assert len(held_out_rows(dataset, divided).rows) == len(divided.held_out) + 1


def test_a_cancelled_adaptation_leaves_nothing(tmp_path, checkpoints):
    dataset = read(pairs_file(tmp_path, header=("premise", "hypothesis", "label")))
    divided = division(dataset)
    made = []

    def cancelled_at(moment):
        job = adaptation(dataset, divided, "test-light", {})
        progress, seen = job.progress, []

        def watched(done):
            seen.append(job.doing)
            if len(seen) == moment:
                job.cancel()
            progress(done)

        job.progress = watched
        try:
            job.work(job)
        except Cancelled:
            return False
        made.append(len(seen))
        return True

    assert cancelled_at(-1), "not at all"
    (run,) = store.runs()
    folder = folder_of(run.models[0].model)
    assert score_context(store.folder_of(run.sha256), run.models[0].sha256).trained_on == 32 and folder.is_dir()
    store.delete(run.sha256)
    for moment in range(1, made[0] + 1):
        assert not cancelled_at(moment), moment
        assert [*folder.parent.iterdir()] == [folder] and not store.runs() and not store.unfinished()


@pytest.fixture
def tiny(tmp_path, monkeypatch):
    """A copy of a small shipped model, which reads the shared word table, among the user's checkpoints."""
    folder = tmp_path / "own" / "tiny-light"
    shutil.copytree(_SHIPPED / "lesson-light", folder)
    card = json.loads((folder / "card.json").read_text()) | {"name": "tiny-light", "title": "Tiny"}
    (folder / "card.json").write_text(json.dumps(card))
    monkeypatch.setenv("PAIRLENS_CHECKPOINTS", str(folder.parent))
    return "tiny-light"


def test_all_weights_are_trained_in_a_separate_process(tmp_path, monkeypatch, tiny):
    monkeypatch.setattr(trainer, "NICENESS", 0)  # a busy machine would let it starve
    monkeypatch.setenv("PAIRLENS_DATASETS", str(tmp_path))
    pairs_file(tmp_path)
    app = opened("events.csv")
    check_columns(app)
    monkeypatch.setattr(trainer, "installed", lambda: False)
    assert "install the packages of requirements-trainers.txt" in texts(app.run())
    monkeypatch.setattr(trainer, "installed", lambda: True)
    app.run()
    next(box for box in app.radio if box.label == "What should learn?").set_value(adapting._ALL).run()
    assert "A tenth of the training rows choose the best epoch" in texts(app)
    assert box_of(app, "Model to train further").value == tiny
    button(app, "Train and test").click().run()
    app = finished(app)
    assert not app.exception and not sentences(app)
    said = texts(app)
    assert re.search(r"A Tiny, events \d+\.\d\u00a0% right \(", said) and "majority class 50.0" in said
    assert "only its classifier adapted" in said
    drawn = figures(app)
    assert "Epochs of Tiny, events" in drawn and "Loss of Tiny, events" in drawn
    (run,) = store.runs()
    (model,) = run.models
    folder = folder_of(model.model)
    card = read_card(folder)
    assert base_of(model.model) == tiny and model.model not in [*available()] and card["name"] == model.model
    assert (model.roles.first, model.roles.second, card["task"]) == ("Report", "Follow-up", "events")
    assert {*model.labels} == {SAME, OTHER} and not (folder / TRAINING).exists()
    # Each of its epochs is a model, and the last ten are kept.
    epochs = [record["epoch"] for record in card["epochs"]]
    learned = dynamics.read(folder)
    assert learned is not None and len(learned.chances) == len(epochs) and 25 < len(learned.rows) < 32
    assert [one.epoch for one in score_context(store.folder_of(run.sha256), model.sha256).epochs] == epochs
    own = load_named(f"{model.model}@{epochs[-1]}")
    assert own.card["title"] == f"Tiny, events, epoch {epochs[-1]}" and own.name == f"{model.model}@{epochs[-1]}"
    assert load_named(f"{model.model}@{card['best_epoch']}").card["sha256"] == card["sha256"]
    assert f"{model.model}@{epochs[-1] - 10}" not in available() and len(epochs) == 12
    pair = {"model": model.model, "first": "a dog is outside", "second": "the dog is outside", "epoch": str(epochs[-1])}
    known = {model.model: ""}
    state, problems = ExploreState.from_parameters(pair | {"epoch": "99"}, known)
    assert state.epoch is None and "without them: epoch." in problems[0]  # it was not kept
    assert ExploreState.from_parameters(pair, known)[0].shown_model == own.name
    explore = open_view("explore", **pair)
    assert next(one for one in components(explore) if one.get("view") == "pair")["explanation"]["model"] == own.name
    assert explore.select_slider[0].value == epochs[-1] and not any(
        "Not right?" in one.label for one in explore.selectbox
    )
    explore.select_slider[0].set_value("kept").run()
    assert "epoch" not in query(explore) and query(explore)["model"] == model.model and not explore.exception
    compare = open_view("compare", **pair)
    sections = next(one for one in components(compare) if one.get("view") == "compare")["sections"]
    assert [one["title"] for one in sections] == [own.card["title"], "Tiny, events"] and not compare.exception


def test_an_adapted_ranker_is_calibrated_on_the_rows_held_out(tmp_path):
    lines = ["QuestionID\tQuestion\tDocumentID\tDocumentTitle\tSentenceID\tSentence\tLabel"]
    for number in range(60):
        said = ["broke the vase", "saw the snow", "went home", "played"]
        if number % 5 in (1, 2):  # labels that cannot all be learned
            said[:2] = said[1::-1]
        for place, what in enumerate(said):
            texts_of_row = f"who broke vase {number}\tD\tT\tD{number}-{place}\tA man {number} {what}."
            lines.append(f"Q{number}\t{texts_of_row}\t{int(place == 0)}")
    (tmp_path / "answers.tsv").write_text("\n".join(lines))
    dataset = read(tmp_path / "answers.tsv")
    job = adaptation(dataset, division(dataset), "test-as", {})
    job.run()
    (model,) = store.open_run(job.written[0]).models
    adapted, stored = load_named(model.model), read_card(folder_of(model.model))["calibration"]
    rows = [row for row in store.open_run(job.written[0]).dataset.rows if row.label is not None]
    chances = [explain(adapted, row.first, row.second).probabilities for row in rows]
    log_odds, right = [math.log(one[1] / one[0]) for one in chances], [row.label == "1" for row in rows]
    assert (stored["pairs"], stored["right"]) == (len(rows), sum(right)) and stored[
        "fixed_on"
    ] == "answers.tsv, held out"
    fitted = stored["slope"], stored["bias"]
    assert stored["slope"] > 0 and log_loss(log_odds, right, *fitted) <= log_loss(log_odds, right) + 1e-9


def test_a_training_is_stopped_resumed_and_deleted(tmp_path, monkeypatch, tiny):
    dataset = read(pairs_file(tmp_path, header=("premise", "hypothesis", "label")))
    divided = division(dataset)
    steps = []

    def trained(options, out, told):
        """A trainer of three epochs, which can fail after each."""
        history = training_progress.read(out).history if (out / training_progress.PROGRESS).is_file() else ()
        while len(history) < 3:
            happens = steps.pop(0)
            if happens == "full":
                raise DeskError("resume.safetensors cannot be written (No space left on device); free space")
            history += (Epoch(len(history) + 1, 1.0, 0.5),)
            progress = TrainingProgress(3, len(history), 3, 2.0, 1, history)
            training_progress.write(out, progress)
            if happens == "stop" or not told(progress):
                break
        shutil.copyfile(tmp_path / "own/tiny-light/weights.safetensors", out / "weights.safetensors")
        card = json.loads((tmp_path / "own/tiny-light/card.json").read_text())
        (out / "card.json").write_text(json.dumps(card | {"title": "T"}))

    monkeypatch.setattr(trainer, "train", trained)
    card = read_card(available()[tiny])
    job = training.training(training.plan_for(dataset, divided, tiny, card, {}, "login Ann"))
    steps[:] = ["epoch", "full"]
    job.run()
    assert job.problem == "Resume.safetensors cannot be written (No space left on device); free space."
    (left,) = training.unfinished("login Ann")
    assert (left.name, left.title, left.epochs) == (job.plan.name, "Tiny, events", 1) and not store.runs()
    assert training.resumed(left.name).plan == job.plan
    # Another server, or this one after a restart, shows it to its maker, who resumes it.
    assert not training.unfinished("login Bob")
    assert "is unfinished" not in " ".join(sentences(open_view("error_desk")))
    monkeypatch.setattr(own_models, "maker", lambda: "login Ann")
    app = open_view("error_desk")
    assert "The training of Tiny, events is unfinished after 1 epoch." in " ".join(sentences(app))
    steps[:] = ["epoch", "epoch"]
    button(app, "Resume").click().run()
    app = finished(app)
    assert not steps and not app.exception and not training.unfinished("login Ann")
    (run,) = store.runs()
    known = score_context(store.folder_of(run.sha256), run.models[0].sha256)
    assert (known.trained_on, len(known.epochs), known.curve) == (32, 3, None)
    store.delete(run.sha256)
    # Stopped by the user: the best epoch is the model. Without one, nothing is left.
    again = training.training(training.plan_for(dataset, divided, tiny, card, {}, "login Ann"))
    steps[:] = ["stop"]
    again.run()
    assert again.written and len(store.runs()) == 1 and made_by("login Ann") == [again.plan.name, job.plan.name]
    none = training.training(training.plan_for(dataset, divided, tiny, card, {}, "login Ann"))
    steps[:] = ["full"]
    none.cancelled = True
    none.run()
    assert not none.problem and none.written is None and not none.plan.folder.exists()
    # An error before the first epoch leaves nothing, and deleting takes the rest away.
    none.cancelled, steps[:] = False, ["full"]
    none.run()
    assert "No space left" in none.problem and not none.plan.folder.exists()
    steps[:] = ["epoch", "full"]
    none.run()
    (left,) = training.unfinished("login Ann")
    training.delete(left.name)
    with pytest.raises(DeskError, match="not here any more"):
        training.resumed(left.name)
    assert not training.unfinished("login Ann") and not none.plan.folder.exists() and not TRAININGS.jobs()
    # A queued training cannot be resumed until its server ends; then it can, and cancelling it leaves nothing behind.
    queued = training.training(training.plan_for(dataset, divided, tiny, card, {}, "login Ann"))
    with pytest.raises(DeskError, match="is queued or being trained already"):
        training.training(queued.plan)
    assert not training.unfinished("login Ann")
    name = queued.plan.name
    del queued
    (left,) = training.unfinished("login Ann")
    queued = training.resumed(left.name)
    assert (left.name, left.epochs) == (name, 0)
    queued.cancel()
    assert queued.finished and not queued.plan.folder.exists()
    # A queued one that has epochs waits for another try.
    failed = training.training(training.plan_for(dataset, divided, tiny, card, {}, "login Ann"))
    steps[:] = ["epoch", "full"]
    failed.run()
    training.resumed(failed.plan.name).cancel()
    assert [one.epochs for one in training.unfinished("login Ann")] == [1]
    full = OSError(28, "No space left on device")
    monkeypatch.setattr(training, "write_whole", lambda *_: (_ for _ in ()).throw(full))
    with pytest.raises(DeskError, match=r"stopped \(No space left on device\): free space"):
        training.training(training.plan_for(dataset, divided, tiny, card, {}, "login Ann"))
