"""The page Filter map without a browser: stars, trails, neighbours, and a look into one filter."""

import csv
import io
import re
from dataclasses import replace
from unittest.mock import Mock

import numpy as np
import pytest

from app.examples import MAP_EXAMPLES, suiting
from app.filter_map import drawing as filter_map
from app.filter_map import figure
from app.filter_map.drawing import TextSide
from app.panels.generated_filters import one_filter
from core.checkpoint import load
from core.data import read
from core.explain import explain
from core.filter_map.map import FilterMap, MapItem, Neighbour, codes_of
from core.filter_map.ngrams import ReadWords, TextNgrams, window_values
from core.reading.tokens import tokenize
from tests.app.made_up_models import WORDS
from tests.app.map_page import (
    arrows,
    badges,
    classes,
    map_text,
    notices,
    page,
    stars,
    table,
    texts,
    weights,
)
from tests.app.pages import chooser, query

OPENING = suiting("topics", MAP_EXAMPLES)[0]


def test_the_page_opens_on_texts_without_earlier_versions():
    app = page()
    assert not app.exception
    assert texts(app) == [text.first for text in OPENING.texts]
    assert query(app) == {"model": "test-topics", "example": OPENING.slug}
    assert badges(app) == ["2", "3", "4", "1"]  # the one that is looked into is drawn last
    assert arrows(app) == stars(app, earlier=True) == []
    assert [notice for notice in notices(app) if "unknown to the word vectors" not in notice] == []


def test_an_example_of_an_edited_text_has_its_trail():
    app = page(example="album-film-river")
    assert not app.exception
    assert badges(app) == ["2", "1"]
    assert len(arrows(app)) == len(stars(app, earlier=True)) == 2
    assert [notice for notice in notices(app) if "unknown to the word vectors" not in notice] == []


def test_the_figure_of_the_reference_texts_is_made_once_for_all_visitors(monkeypatch):
    first = page(first="a dog")
    monkeypatch.setattr(figure, "map_points", Mock(side_effect=AssertionError))
    second = page(first="a cat")
    assert not second.exception and classes(second) == classes(first)


def test_stars_lie_where_the_map_places_them_and_neighbours_are_true(checkpoints):
    app = page(first="a dog with a toy")
    model = load(checkpoints / "test-topics")
    reference_map = FilterMap.load(model.folder / "map", model)
    code = codes_of(model, ["a dog with a toy"])
    (star,) = stars(app)
    place = reference_map.place(code, "all filters")[0]
    assert star["at"] == pytest.approx(place.tolist(), abs=1e-3)
    nearest = reference_map.neighbours(code[0], "all filters")
    shown = app.table[0].value
    assert shown.iloc[0, 0].startswith(r"\*\*Row\*\* \<b\>"), "no title is read as Markdown"
    listed = table(app, "nearest filters")
    numbers = [reference_map.items[neighbour.index].id.split()[1] for neighbour in nearest]
    assert [line[0] for line in listed] == [f"**Row** <b>{number}</b>" for number in numbers]
    distance, rows = filter_map.nearest_rows(reference_map, nearest, {}, ())
    assert shown.columns[-1].replace("\\", "") == distance
    assert [line[2] for line in listed] == [row[2] for row in rows]
    far, near = Neighbour(0, 0.25), Neighbour(1, 1.06e-6)
    assert filter_map.nearest_rows(reference_map, [far], {"film": "movie"}, ()) == (
        "distance",
        [("**Row** <b>0</b>", "movie", "0.250")],
    )
    assert filter_map.nearest_rows(reference_map, [near], {}, ())[0] == "distance, ×\u00a010⁻⁶"
    assert filter_map.nearest_rows(reference_map, [near], {}, ())[1][0][2] == "1.06"
    expected = reference_map.layouts["all filters"].coordinates[[n.index for n in nearest]]
    assert np.array(map_text(app)["nearest"]) == pytest.approx(expected, abs=1e-3)


def test_classes_have_points_and_titles_are_text():
    app = page()
    drawn = classes(app)
    assert [one["name"] for one in drawn] == ["film", "animal", "place"]
    assert [len(one["points"]) for one in drawn] == [len(one["labels"]) for one in drawn] == [15, 15, 15]
    for look in ("colour", "symbol"):
        assert len({one[look] for one in drawn}) == 3
    assert drawn[0]["labels"][0] == ["**Row** <b>0</b>", "", "film"]


def test_a_deleted_text_stays_deleted_when_the_link_is_opened():
    app = page(first="a dog", first2="a cat")
    app.text_area[1].input("").run()
    again = page(**query(app))
    assert texts(again) == texts(app) == ["a dog", ""]
    assert badges(again) == badges(app) == ["1"]


def test_an_empty_box_between_others_keeps_its_place_in_the_link():
    app = page(first="a dog")
    for _ in range(2):
        app.button(key="add a text").click().run()
    app.text_area[2].input("cold weather").run()
    again = page(**query(app))
    assert texts(again) == ["a dog", "", "cold weather"]
    assert chooser(again, "Inspect text").value == (2, "")
    assert not any("link" in notice for notice in notices(again))


def test_the_view_around_a_text_holds_its_star_and_its_nearest_filters():
    trail = {"first": "a dog with a toy", "first.1": "cold weather outside in snow"}
    whole, near = page(**trail), page(**trail, view="near")
    assert arrows(near) == arrows(whole) and len(arrows(near)) == 1
    star = stars(near)[-1]
    homes = zip(map_text(near)["home"], map_text(whole)["home"], strict=True)
    for axis, ((low, high), (lowest, highest)) in enumerate(homes):
        assert all(low < point[axis] < high for point in [star["at"], *map_text(near)["nearest"]])
        assert high - low < highest - lowest
        assert all(lowest < point[axis] < highest for one in classes(whole) for point in one["points"])


def test_editing_a_text_leaves_its_trail():
    app = page(first="a dog")
    assert arrows(app) == []
    app.text_area[0].input("a cat").run()
    app.text_area[0].input("a cat in snow").run()
    assert query(app) == {"model": "test-topics", "first": "a cat in snow", "first.1": "a dog", "first.2": "a cat"}
    assert len(stars(app, earlier=True)) == 2
    assert [bool(star["label"][2]) for star in map_text(app)["stars"]] == [not s["old"] for s in map_text(app)["stars"]]
    again = page(**query(app))
    assert [map_text(again)[name] == map_text(app)[name] for name in ("stars", "trails")] == [True, True]


def test_an_unrelated_sentence_starts_a_new_trail():
    app = page(first="a dog", first2="cold weather")
    app.text_area[0].input("a dog with a toy").run()
    app.text_area[1].input("cold weather outside").run()
    assert len(arrows(app)) == 2
    app.text_area[0].input("the woman is jumping outside").run()
    assert query(app) == {
        "model": "test-topics",
        "first": "the woman is jumping outside",
        "first2": "cold weather outside",
        "first2.1": "cold weather",
    }
    assert len(arrows(app)) == 1, "the other text keeps its trail"


def test_texts_are_added_and_removed_and_typing_looks_into_the_text():
    app = page(first="a dog")
    app.button(key="add a text").click().run()
    assert texts(app) == ["a dog", ""]
    assert badges(app) == ["1"]
    app.text_area[1].input("a cat").run()
    assert query(app) == {"model": "test-topics", "first": "a dog", "first2": "a cat", "look": "2"}
    assert chooser(app, "Inspect text").value == (1, "")
    chooser(app, "Inspect text").set_value(TextSide(0, "")).run()
    assert "look" not in query(app)
    remove = next(b for b in app.button if b.help == "Remove text 1")
    remove.click().run()
    assert texts(app) == ["a cat"]
    assert query(app) == {"model": "test-topics", "first": "a cat"}
    for _ in range(7):
        if any(b.key == "add a text" for b in app.button):
            app.button(key="add a text").click().run()
    assert len(texts(app)) == 6
    assert not app.exception


def test_a_late_value_of_a_box_is_kept_when_a_text_is_added():
    app = page(first="a dog")
    app.text_area[0].input("a cat")
    app.button(key="add a text").click().run()
    assert texts(app) == ["a cat", ""]


def test_the_other_layout_is_of_one_filter_and_stays_in_the_link():
    app = page(first="a dog with a toy")
    chooser(app, "Map of").set_value("filter 0").run()
    assert query(app)["layout"] == "filter 0"
    one = page(**query(app))
    assert classes(one) != classes(page(first="a dog with a toy"))
    shown = chooser(one, "Filter to look at, strongest first")
    assert "+" in shown.format_func(shown.value), "the one that is shown without a choice fires"
    assert "filter 0 of those" in map_text(one)["reading"]


def test_a_filter_is_drawn_with_its_windows(checkpoints):
    text = "a dog is jumping with a toy outside"
    app = page(first=text, filter="3")
    explanation = explain(load(checkpoints / "test-topics"), text)
    made = one_filter.made(explanation, "text")
    assert np.array(weights(app)["weights"]) == pytest.approx(np.array(made.bank.bank[3]))
    values = window_values(load(checkpoints / "test-topics"), explanation, made.bank, 3)
    assert max(values) == pytest.approx(made.won.filters[3].preactivation, abs=1e-5)
    assert len(values) == 4
    listed = one_filter.windows(explanation, made, values)
    assert [words for words, _ in table(app, "what it finds in the text")] == [words for words, _ in listed]
    box = chooser(app, "Filter to look at, strongest first")
    assert box.value == 3
    box.select_index(0).run()
    strongest = max(made.won.filters, key=lambda f: f.preactivation).index
    assert query(app)["filter"] == str(strongest)


def test_a_chosen_filter_stays_while_the_text_changes():
    app = page(first="a dog with a toy", filter="3")
    app.text_area[0].input("cold weather outside").run()
    assert chooser(app, "Filter to look at, strongest first").value == 3
    assert query(app)["filter"] == "3"


def test_a_map_with_uninformative_neighbours_shows_a_warning_first(checkpoints):
    model = load(checkpoints / "test-topics")
    opened = FilterMap.load(model.folder / "map", model)
    layout = next(iter(opened.layouts.values()))
    poor = {**layout.quality, "knn_filters": 0.412, "knn_plane": 0.38, "majority": 0.5}
    sentence = filter_map.caution(opened, replace(layout, quality=poor))
    assert sentence.startswith("Neighbours do not tell the class on this map: 10-NN accuracy is 41\u00a0%")
    assert filter_map.caution(opened, replace(layout, quality={**poor, "knn_filters": 0.9, "knn_plane": 0.8})) == ""
    told = page(model="topic-acnn")
    assert not any("Neighbours do not tell" in h.proto.body for h in told.get("html"))
    assert "texts of DBpedia" in map_text(told)["reading"]


def test_reviews_are_positive_or_negative():
    app = page(model="sentiment-acnn")
    bodies = "".join(h.proto.body for h in app.get("html"))
    assert re.search(r"(Posi|Nega)tive [\d>]", bodies)
    assert {one["name"] for one in classes(app)} == {"positive", "negative"}


def test_a_pair_has_both_its_filters_on_the_map(checkpoints):
    app = page(model="test-qa", first="is a dog outside", second="the dog is playing in the snow")
    assert not app.exception
    assert [box.label for box in app.text_area] == ["Question 1", "Answer 1"]
    assert sorted(badges(app)) == ["1 answer", "1 question"]
    assert [one["name"] for one in classes(app)] == ["not an answer", "answer", "question"]
    question, answer = sorted(stars(app), key=lambda star: star["second"])
    assert map_text(app)["pairs"] == [[question["at"], answer["at"]]]
    assert "made from question 1" in "".join(h.proto.body for h in app.get("html"))
    assert table(app, "what it finds in the answer")
    chooser(app, "Inspect text").set_value(TextSide(0, "answer")).run()
    assert query(app)["side"] == "second"
    assert table(app, "what it finds in the question")
    app.text_area[1].input("the cat is playing in the snow").run()
    assert len(arrows(app)) == 1, "the question has not moved"


def test_a_question_is_placed_while_its_answer_is_still_empty():
    app = page(model="test-qa", first="is a dog outside", second="")
    assert badges(app) == ["1 question"]
    assert any("Type the other text of the pair too" in h.proto.body for h in app.get("html"))


def test_texts_are_counted_from_1_by_role():
    names = {"": ("1", " 1"), "answer": ("1 answer", "answer 1"), "question2": ("1: question2", "question2 of pair 1")}
    assert {role: tuple(filter_map.numbered(role, 0, after) for after in (False, True)) for role in names} == names


def test_one_way_models_place_only_the_question():
    app = page(model="test-qa-one-way", first="is a dog outside", second="the dog is playing")
    assert badges(app) == ["1 question"]
    assert table(app, "what it finds in the answer")


def test_typing_a_side_without_filters_looks_into_the_other_one_of_its_pair():
    app = page(model="test-qa-one-way", first="is a dog outside", second="the dog is playing", first2="is a cat bold")
    app.text_area[3].input("the cat is not bold").run()
    assert query(app)["look"] == "2"
    assert chooser(app, "Inspect text").value == (1, "question")
    assert "made from question 2" in "".join(h.proto.body for h in app.get("html"))
    app.text_area[2].input("").run()
    assert chooser(app, "Inspect text").value == (0, "question"), "the second pair has no question any more"
    assert not app.exception


def test_the_table_of_the_map_has_one_line_a_point(checkpoints):
    model = load(checkpoints / "test-topics")
    reference_map = FilterMap.load(model.folder / "map", model)
    star = filter_map.Star(TextSide(0, ""), "=1+1 dog", 0, (1.5, 2.5), "film 60 %")
    lines = list(
        csv.DictReader(io.StringIO(filter_map.to_csv(reference_map, reference_map.layouts["filter 0"], {}, [star])))
    )
    assert len(lines) == 1 + 45
    assert lines[0] == {
        "of": "yours",
        "id": "1",
        "title": "'=1+1 dog",
        "side": "",
        "class": "film 60 %",
        "version": "0",
        "x": "1.5",
        "y": "2.5",
    }
    assert lines[1]["title"] == "**Row** <b>0</b>"
    weights = ((0.5, 1.0), (2.0, 3.0))
    assert one_filter.to_csv(4, weights).splitlines() == [
        "filter,word,dimension_1,dimension_2",
        "4,1,0.5,1.0",
        "4,2,2.0,3.0",
    ]


def test_the_caption_states_metric_and_quality_and_that_stars_are_approximate():
    app = page()
    reading = map_text(app)["reading"]
    assert "cosine" in reading
    assert "approximate (openTSNE’s transform)" in reading
    quality = next(h.proto.body for h in app.get("html") if "trustworthiness" in h.proto.body)
    assert re.search(r"\d+-NN accuracy: [\d.]+\s% in filter space, [\d.]+\s% on the map \(majority class", quality)


def test_each_position_of_a_filter_lists_the_words_it_responds_to(checkpoints):
    text = "a dog is jumping with a toy outside"
    app, model = page(first=text, filter="3"), load(checkpoints / "test-topics")
    bank = one_filter.made(explain(model, text), "text").bank.bank[3]
    words = ReadWords.of(model, WORDS).strongest(bank, 4)
    assert weights(app)["places"] == [place for place, _ in table(app, "place")]
    expected = [", ".join(f"{word} {one_filter.signed(value)}" for word, value in row) for row in words]
    assert [words for _, words in table(app, "place")] == expected
    assert any(f"Among the {len(WORDS)} most frequent words" in caption.value for caption in app.caption)


def test_reference_texts_show_where_their_data_is(checkpoints, monkeypatch):
    bare = page(first="a dog with a toy")
    assert all("in the reference texts" not in one.value.columns for one in bare.table)
    hint = "read from texts.csv: set PAIRLENS_DATA to the folder"
    assert [hint in caption.value.replace("\\", "") for caption in bare.caption].count(True) == 1
    monkeypatch.setenv("PAIRLENS_DATA", str(checkpoints / "data"))
    app = page(first="a dog with a toy")
    assert not app.exception
    assert not any("PAIRLENS" in caption.value for caption in app.caption)
    rows = {row.title: row for row in read(checkpoints / "data/topics/texts.csv").rows}
    nearest = table(app, "nearest filters")
    alone = table(bare, "nearest filters")[:6]
    assert [line[1:] for line in nearest] == [line[1:] for line in alone]
    assert len(map_text(app)["nearest"]) == 6, "as many rings as lines"
    for (named, *_), (title, *_) in zip(nearest, alone, strict=True):
        assert named == f"{title}: {rows[title].first.removeprefix(f'{title}. ')}"
    for title, text, _ in (label for one in classes(app) for label in one["labels"]):
        assert rows[title].first == f"{title}. {text}"


def test_the_ngrams_of_reference_texts_are_listed_with_a_filter(checkpoints, monkeypatch):
    monkeypatch.setenv("PAIRLENS_DATA", str(checkpoints / "data"))
    app, model = page(first="a dog with a toy", filter="3"), load(checkpoints / "test-topics")
    bank = one_filter.made(explain(model, "a dog with a toy"), "text").bank.bank[3]
    rows = {row.title: row.first for row in read(checkpoints / "data/topics/texts.csv").rows}
    known = TextNgrams(model, list(rows.values()))
    listed = table(app, "in the reference texts")
    assert [words for words, _, _ in listed] == [" ".join(n.words) for n in known.strongest(bank, 0.0, 6)]
    assert [value for _, _, value in listed] == [one_filter.signed(n.value) for n in known.strongest(bank, 0.0, 6)]
    for words, title, _ in listed:
        assert words in " ".join(token.norm for token in tokenize(rows[title]))
    assert any(f"{len(known)} n" in caption.value for caption in app.caption)


@pytest.mark.parametrize("model", ["test-qa", "test-qa-one-way"])
def test_a_questions_filter_is_answered_by_reference_answers(checkpoints, monkeypatch, model):
    monkeypatch.setenv("PAIRLENS_DATA", str(checkpoints / "data"))
    pair = "is a dog outside", "the dog is playing in the snow"
    app = page(model=model, first=pair[0], second=pair[1])
    assert not app.exception
    rows = {row.id: row for row in read(checkpoints / "data/qa/pairs.csv").rows}
    listed = table(app, "in the reference texts")
    assert all(words in rows[id].second for words, id, _ in listed)
    made = one_filter.made(explain(load(checkpoints / model), *pair), "question")
    best = max(made.won.filters, key=lambda f: f.preactivation)
    known = TextNgrams(load(checkpoints / model), [row.second for row in rows.values()])
    strongest = known.strongest(made.bank.bank[best.index], best.bias, 6)
    assert [value for _, _, value in listed] == [one_filter.signed(n.value) for n in strongest]
    for title, _, name in classes(app)[0]["labels"]:
        assert title == "" and "row" in name
    if model == "test-qa":
        chooser(app, "Inspect text").set_value(TextSide(0, "answer")).run()
        assert all(words in rows[id].first for words, id, _ in table(app, "in the reference texts"))


def test_reference_texts_are_never_markup_and_a_lost_file_changes_nothing(checkpoints, tmp_path, monkeypatch):
    monkeypatch.setenv("PAIRLENS_DATA", str(tmp_path))
    lost = page(first="a dog")
    monkeypatch.delenv("PAIRLENS_DATA")
    bare = page(first="a dog")
    assert [h.proto.body for h in lost.get("html")] == [h.proto.body for h in bare.get("html")]
    assert classes(lost) == classes(bare)
    item, odd = MapItem("row 1", "film", "<i>T</i>"), "<i>T</i>. <img src=x> **b** " + "word " * 500
    assert filter_map.opening(item, odd).startswith("<img src=x> **b** word")
    head, words, kind = filter_map.hover_label(item, "film", odd)
    assert (head, kind) == ("<i>T</i>", "film")
    assert words.startswith("<img src=x> **b** word") and words.endswith("…") and len(words) == 150
