"""The page Lessons: all lessons and their steps, changed numbers and sentences, and links that cannot be followed."""

import re
from pathlib import Path
from urllib.parse import parse_qsl

import pytest

from app.pages import pages
from core.checkpoint import available, read_card
from core.lessons import lessons
from core.wording import percent
from tests.app.pages import components, open_view, query, sentences

LESSONS = lessons()
ROOT = Path(__file__).resolve().parents[2]


def drawn(app):
    assert not app.exception
    return next(data for data in components(app) if data.get("view") == "lesson")


@pytest.mark.parametrize("name", LESSONS)
def test_a_lesson_opens_at_the_step_of_its_link_with_all_steps_drawn(name):
    steps = LESSONS[name].steps
    app = open_view("lessons", lesson=name, step=str(len(steps)))
    data = drawn(app)
    assert (data["step"], data["title"], data["notices"]) == (len(steps), LESSONS[name].title, [])
    for shown, step in zip(data["steps"], steps, strict=True):
        assert (shown["title"], shown["formula"][:5], len(shown["numbers"])) == (step.title, "<math", len(step.numbers))
        assert shown["lit"]
    assert not sentences(app)
    assert moving(data), "numbers travel to a later step's"
    (room,) = [dict(parse_qsl(link.proto.query_string)) for link in app.get("page_link")]
    model = room.pop("model", "")
    assert (
        model == steps[-1].opens or f"({model})" in data["footer"][0] or (not model and "by hand" in data["footer"][0])
    )
    assert room == data["texts"], "a room begins with what the step shows"


def moving(data):
    """The numbers that a step after the first highlights for the first time, and others in the picture travel to."""

    def any_of(names, number):
        places = number.split(".")
        return any(all(a in ("*", b) for a, b in zip(name.split("."), places, strict=False)) for name in names)

    shown = {row["value"] for line in data["lines"] for row in line["rows"] if row["shape"] != "curve"}
    first, *later = [step["lit"] for step in data["steps"]]
    return {
        number
        for number, sources in data["origins"].items()
        if shown & {source.partition(".")[0] for source in sources}
        and not any_of(first, number)
        and any(any_of(lit, number) for lit in later)
    }


def test_a_phrase_is_kept_from_its_place_and_a_word_gets_its_context_from_all_words():
    phrases, light = (drawn(open_view("lessons", lesson=name)) for name in ("phrases", "light"))
    kept = [int(source.rpartition(".")[2]) for n in range(1, 6) for source in phrases["origins"][f"least.{n}"]]
    best, least = (phrases["values"][name]["number"] for name in ("a", "least"))
    assert [best[place - 1] for place in kept] == least
    assert phrases["origins"]["a.3"] == ["state", "other"] and "a.2" not in phrases["origins"]
    assert light["origins"]["c.2"] == ["alpha", "y.*.2"]
    assert light["origins"]["parts.2"] == ["x.2"] and light["origins"]["parts.4"] == ["c"]


def test_a_link_changes_numbers_and_all_that_follows():
    app = open_view("lessons", lesson="global-attention", step="2", inputs="h.1.1=0.9")
    data = drawn(app)
    assert data["values"]["score"]["text"] == ["0.21", "0.1", "0.03"]
    assert "".join(data["steps"][1]["numbers"]).count(">0.9<") == 1
    assert query(app) == {"step": "2", "inputs": "h.1.1=0.9"}


def test_a_link_changes_sentences():
    data = drawn(open_view("lessons", lesson="light", first="A man sleeps"))
    assert data["words"]["y"] == ["A", "man", "sleeps"]
    assert data["texts"]["second"] == LESSONS["light"].texts["second"]


@pytest.mark.parametrize(
    ("link", "sentence"),
    [
        ({"lesson": "gone", "inputs": "h.1.1=x"}, "the page is shown without them: lesson, inputs."),
        ({"step": "90"}, "the page is shown without them: step."),
        ({"inputs": "h.9.1=1"}, "the page is shown without them: inputs."),
        ({"inputs": "q=1;h=2"}, "the page is shown without them: inputs."),
    ],
)
def test_an_unusable_link_parameter_gets_a_sentence(link, sentence):
    data = drawn(open_view("lessons", **link))
    assert sentence in " ".join(data["notices"])


def test_a_class_pastes_its_own_pairs_and_they_stay_from_lesson_to_lesson():
    app = open_view("lessons", lesson="people", step="8")
    app.text_area[0].set_value("A dog runs\tA cat runs\n\nNo second sentence\nA man sings | A man sings").run()
    data = drawn(app)
    assert "summed over 2 pairs" in data["steps"][7]["says"] and "dog" not in data["texts"].values()
    assert data["notices"] == ["1 line left out: each needs two sentences with a tab or | between them."]
    assert "cat → dog" in data["words"]["top_unlike"]
    app.radio[0].set_value("phrases").run()
    assert drawn(app)["values"]["top_least"]["number"] and "of 2 pairs" in drawn(app)["steps"][9]["says"]
    assert query(app)["pairs"].startswith("A dog runs\tA cat runs")
    app.text_area[0].set_value("\n".join(f"{'A dog ' * 30}| Cat {n}" for n in range(20))).run()
    assert "pairs" not in query(app) and "of 20 pairs" in drawn(app)["steps"][9]["says"]
    assert "too long for a link" in "".join(html.value for html in app.get("html"))
    app.text_area[0].set_value("").run()
    assert "of 20 pairs" in drawn(app)["steps"][9]["says"]


def test_a_sentence_without_a_word_gets_a_sentence_and_a_way_back():
    app = open_view("lessons", lesson="light", first="...")
    assert not app.exception
    assert "type a sentence with at least one word" in sentences(app)[0]
    data = drawn(app.button[0].click().run())
    assert data["texts"] == LESSONS["light"].texts


@pytest.mark.parametrize("inputs", ["tau=0", "score.1=1e300", "scale=1e308;score.1=1e3"])
def test_numbers_without_a_result_get_a_sentence_and_a_way_back(inputs):
    app = open_view("lessons", lesson="softmax", inputs=inputs)
    assert not app.exception
    assert "divides by 0" in sentences(app)[0]
    assert query(app.button[0].click().run()) == {"lesson": "softmax"}


def test_the_plans_fill_ninety_minutes_with_links_that_open_in_projector_mode():
    _, *plans = (ROOT / "docs/teaching.md").read_text().split("\n## ")
    for plan in plans:
        assert sum(map(int, re.findall(r"\*\*(\d+) min\*\*", plan))) == 90, plan.partition("\n")[0]
        links = re.findall(r"\(http://localhost:8501/(\S*)\)", plan)
        assert len(links) == plan.count(" min**") == plan.count("*Ask*") == plan.count("*Expect*")
        for page, asked in (link.split("?") for link in links):
            values = dict(parse_qsl(asked))
            assert (page or "explore").replace("-", "_") in pages()
            assert page == "classroom" or values["projector"] == "on", "a room's own page is for the lecturer alone"
            if page == "lessons":
                assert int(values.get("step", 1)) <= len(LESSONS[values["lesson"]].steps)
            if page == "filter-map" and "question" in plan:
                assert read_card(available()[values["model"]])["roles"]["first"] == "question", "a map of questions"


def test_the_accuracy_of_models_to_compare_is_the_cards():
    accuracy = read_card(available()["guest-minilm"])["results"]["SNLI dev"]["accuracy"]
    assert f"minilm {percent(accuracy)}" in drawn(open_view("lessons", lesson="global-attention"))["footer"][1]
    heads, softmax = (drawn(open_view("lessons", lesson=name)) for name in ("heads", "softmax"))
    assert len(softmax["footer"]) == len(heads["footer"]) == 1, "a step of the lesson on heads lets learners guess it"
    assert heads["values"]["dev"]["number"][-1] == accuracy


def test_the_page_has_the_plans_with_links_to_this_server():
    app = open_view("lessons", lesson="softmax")
    assert [tab.label for tab in app.tabs] == [
        "Attention for inference",
        "Attentive convolution, and the limits of attention",
        "Phrases and generated filters",
    ]
    shown = "\n".join(text.value for text in app.markdown)
    assert "](./lessons?lesson=global-attention&step=2&projector=on)" in shown and "localhost" not in shown


def test_another_lesson_starts_at_its_first_step_with_its_own_numbers():
    app = open_view("lessons", lesson="global-attention", step="3", inputs="h.1.1=0.9", projector="on")
    app.radio[0].set_value("softmax").run()
    data = drawn(app)
    assert (data["title"], data["step"], data["projector"]) == (LESSONS["softmax"].title, 1, True)
    assert query(app) == {"lesson": "softmax", "projector": "on"}
