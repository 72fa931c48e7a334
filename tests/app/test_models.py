"""The page Models, and a card that says little."""

from pathlib import Path

from streamlit.testing.v1 import AppTest

from app.panels import card, tables
from core.checkpoint import load
from core.explain import explain

ROOT = Path(__file__).resolve().parents[2]


def models():
    return AppTest.from_file(str(ROOT / "app/views/models.py"), default_timeout=60).run()


def test_every_card_is_shown_as_text_and_broken_ones_get_one_sentence_each():
    app = models()
    assert not app.exception
    page = "".join(h.proto.body for h in app.get("html"))
    assert "Test light" in page
    assert "**Other** &lt;b&gt;:smile:&lt;/b&gt;" in page
    assert "python -m trainers train test" in page
    assert page.count('class="pl-notice"') == 2
    assert "test-foreign" in page
    assert "test-no-json" in page


def test_without_models_the_page_says_what_to_do(tmp_path, monkeypatch):
    monkeypatch.setenv("PAIRLENS_CHECKPOINTS", str(tmp_path))
    monkeypatch.setattr("core.checkpoint.PRETRAINED", tmp_path)
    app = models()
    assert not app.exception
    assert any("No model is installed" in h.proto.body for h in app.get("html"))


def test_a_bare_card_is_enough(tmp_path):
    bare = {"name": "own", "title": "Own", "architecture": "attconv-light", "licence": "CC0", "words": {}}
    assert card.results(bare) == []
    assert card.curve(bare) == []
    assert "trainers train own" in card.command(bare)
    assert ("Licence of the weights", "CC0") in card.facts(bare, tmp_path)


def test_a_full_card_is_told_in_words(tmp_path):
    full = {
        "name": "own", "title": "Own", "architecture": "attconv-light", "licence": "CC0", "words": {"name": "w"},
        "results": {"SNLI dev": {"accuracy": 0.7914, "macro_f1": 0.79, "items": 9842}}, "paper": {"SNLI test": 0.863},
        "seed": 1, "seeds": {"seeds": [1, 2, 3], "mean": 0.79, "spread": 0.002}, "parameters": {"model": 360000},
        "training": {"seconds": 660, "device": "CPU"},
        "epochs": [{"epoch": 1, "loss": 0.9, "snli_dev": 0.6, "seconds": 0.5}],
    }  # fmt: skip
    assert card.results(full)[0] == ("SNLI dev", "79.1 %", "9,842 pairs, macro-F1 79.0 %")
    assert card.results(full)[1][:2] == ("SNLI test, in the paper", "86.3 %")
    facts = dict(card.facts(full, tmp_path))
    assert facts["Seed"] == "1; over 3 seeds 79.0 % ± 0.2"
    assert facts["Training took"] == "11 min on CPU"
    assert card.curve(full) == [{"epoch": 1, "set": "SNLI dev", "score": 0.6, "measure": "accuracy"}]


def test_a_rankers_card_tells_map_and_mrr_and_the_classifier_that_was_kept(tmp_path):
    ranked = {
        "name": "as", "title": "AS", "architecture": "phrases", "licence": "CC0", "words": {"name": "w"},
        "results": {"WikiQA dev": {"map": 0.67123, "mrr": 0.684, "items": 126}},
        "paper": {"WikiQA test MAP": 0.7124, "WikiQA test MRR": 0.7237}, "seed": 1,
        "seeds": {"seeds": [1, 2], "mean": 0.67, "spread": 0.004},
        "classifier": "linear SVM, C = 0.1",
        "classifiers": {"network": {"map": 0.66, "mrr": 0.67}, "linear SVM, C = 0.1": {"map": 0.67123, "mrr": 0.684}},
        "epochs": [{"epoch": 1, "loss": 0.9, "wikiqa_dev": 0.6, "wikiqa_dev_mrr": 0.61}],
    }  # fmt: skip
    assert card.results(ranked) == [
        ("WikiQA dev", "MAP 0.6712", "MRR 0.6840, 126 questions"),
        ("WikiQA test MAP, in the paper", "0.7124", "other training data"),
        ("WikiQA test MRR, in the paper", "0.7237", "other training data"),
    ]
    facts = dict(card.facts(ranked, tmp_path))
    assert facts["Classifier kept"] == (
        "linear SVM, C = 0.1, MAP 0.6712 on dev, the best of 2; the network’s own MAP 0.6600"
    )
    assert facts["Seed"] == "1; over 2 seeds MAP 0.6700 ± 0.0040"
    assert card.curve(ranked) == [{"epoch": 1, "set": "WikiQA dev", "score": 0.6, "measure": "MAP"}]
    assert card.made_and_measured(ranked) == ["seed 1", "WikiQA dev MAP 0.6712"]
    assert card.made_and_measured({"results": {"x": 3, "y": {"map": "high"}}}) == []
    (tmp_path / "ablation.csv").write_text("a,b\n")
    assert [path.name for path in card.tables(tmp_path)] == ["ablation.csv"]


def test_tables_have_one_line_a_cell_and_a_filter(checkpoints):
    told = explain(load(checkpoints / "test-light"), "=A dog plays", "A cat")
    cells = tables.attention_csv(told).splitlines()
    assert cells[0] == "hypothesis_position,hypothesis_word,premise_position,premise_word,score,weight"
    assert len(cells) == 1 + 2 * 4
    assert len(tables.filters_csv(told).splitlines()) == 1 + 12
    alone = explain(load(checkpoints / "test-alone"), "A dog", "A cat")
    assert tables.attention_csv(alone) == ""
