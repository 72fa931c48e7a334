"""Studies in a checkpoint's folder: tables of runs, shown with plain labels."""

import json
import shutil
from pathlib import Path

import pytest

from core.evaluation import sweeps
from tests.app.test_models import models

HEAD = "seed,best_epoch,classifier,accuracy,macro_f1,accuracy (network),accuracy (linear SVM)\n"


def table(folder, name, head, *rows):
    path = folder / name
    path.write_text("\n".join([head.strip(), *rows]) + "\n", encoding="utf-8")
    return path


def test_a_table_has_a_row_a_variant_with_means_intervals_and_plain_names(tmp_path):
    ablation = sweeps.read(
        table(
            tmp_path,
            "ablation.csv",
            "model.features,model.extra," + HEAD,
            "rep+simi,none,1,3,network,0.80,0.7,0.79,0.80",
            "simi,entailment,1,3,network,0.9,0.7,0.9,",
            "rep+simi,none,2,3,network,0.82,0.7,0.80,0.81",
            "rep+simi,none,3,3,network,0.84,0.7,0.81,0.85",
        )
    )
    (first, means), (second, single) = ablation.variants
    assert sweeps.label(first) == "features = rep+simi, extra = none"
    assert sweeps.label(second) == "features = simi, extra = entailment"
    # t(.975, 2) = 4.30265, s = 0.02, n = 3: 4.30265 · 0.02 / √3 = 0.049683
    assert means["accuracy"] == pytest.approx((0.82, 0.049683, 3), abs=1e-6)
    assert sweeps.text(means["accuracy"], "accuracy") == "82.0 ± 5.0 %"
    assert sweeps.text(means["accuracy (network)"], "accuracy (network)") == "80.0 ± 2.5 %"
    assert sweeps.text(single["accuracy"], "accuracy") == "90.0 %"
    assert "accuracy (linear SVM)" not in single
    assert list(ablation.columns.values()) == ["accuracy", "network", "linear SVM"]
    assert sweeps.caption(ablation, "SICK dev") == (
        "Accuracy on SICK dev with the classifier that was kept; then accuracy of each kind of classifier. "
        "±: half the 95\u00a0% interval of the mean over 3 runs (Student’s t); a single run has none."
    )


def test_names_are_plain_words():
    assert sweeps.label({"model.pooling": "kmin", "model.k": "5"}) == "pooling = kmin, k = 5"
    assert sweeps.label({"train.SNLI-86k.weight": "0.5"}) == "weight of SNLI-86k = 0.5"
    assert sweeps.label({}) == "as the recipe says"


def test_a_grid_is_a_row_a_combination_and_one_seed_has_no_interval(tmp_path):
    head = "model.pooling,model.k,seed,best_epoch,classifier,map,mrr"
    path = table(tmp_path, "figure6.csv", head, "kmin,1,1,3,network,0.61,0.7", "kmax,10,1,3,network,0.62,0.7")
    sweep = sweeps.read(path)
    assert sweep.averages() == [
        {"variant": "pooling = kmin, k = 1", "runs": "1", "MAP": "0.6100", "MRR": "0.7000"},
        {"variant": "pooling = kmax, k = 10", "runs": "1", "MAP": "0.6200", "MRR": "0.7000"},
    ]
    assert sweeps.caption(sweep, "WikiQA dev") == (
        "MAP and MRR on WikiQA dev with the classifier that was kept. One run each, so without intervals."
    )
    rows = [f"{k},{seed},3,network,{0.6 + seed / 100},0.7" for k in (1, 2) for seed in (1, 2)]
    seeds = sweeps.read(table(tmp_path, "two.csv", head.partition(",")[2], *rows))
    # t(.975, 1) = 12.7062, s = 0.00707107, n = 2: half = 0.063531
    assert [row["MAP"] for row in seeds.averages()] == ["0.6150 ± 0.0635"] * 2
    assert "±: half the 95\u00a0% interval of the mean over 2 runs" in sweeps.caption(seeds, "WikiQA dev")


def test_question_words_are_rows_too(tmp_path):
    head = "model.adaptivity,model.matching,question_word,seed,best_epoch,dev,questions,map,mrr"
    kinds = (("none", "none"), ("two-way", "none"), ("two-way", "multi-perspective"))
    rows = [f"{kind},{matching},how,{seed},3,WikiQA dev,9,0.{seed},0.7" for seed in (5, 7) for kind, matching in kinds]
    words = sweeps.read(table(tmp_path, "figure3b.csv", head, *rows))
    assert [row["variant"] for row in words.averages()] == [
        "adaptivity = none, matching = none, question word = how",
        "adaptivity = two-way, matching = none, question word = how",
        "adaptivity = two-way, matching = multi-perspective, question word = how",
    ]
    assert words.variants[0][1]["map"].value == pytest.approx(0.6)


COMPARED = "comparison,measure,dev,ours,theirs,difference,low,high,items,seeds,seeds_theirs"


def test_comparisons_state_which_differences_are_resolved(tmp_path):
    sweep = sweeps.read(
        table(
            tmp_path,
            "comparisons.csv",
            COMPARED,
            "a,accuracy,SICK trial,0.96,0.95,0.01,0.002,0.02,6600,3,3",
            "b,map,WikiQA dev,0.65,0.66,-0.01,-0.03,0.01,126,3,3",
            "c,map,WikiQA dev,0.6,0.7,-0.1,-0.2,-0.05,126,3,3",
        )
    )
    assert [tuple(row.values()) for row in sweep.rows] == [
        ("a", "SICK trial: 6,600 items, 3 seeds", "accuracy 96.0 % against 95.0 %", "+1.0 [+0.2, +2.0]", "higher"),
        (
            "b",
            "WikiQA dev: 126 items, 3 seeds",
            "MAP 0.6500 against 0.6600",
            "−0.0100 [−0.0300, +0.0100]",
            "unresolved",
        ),
        ("c", "WikiQA dev: 126 items, 3 seeds", "MAP 0.6000 against 0.7000", "−0.1000 [−0.2000, −0.0500]", "lower"),
    ]
    for broken in ("a,map,x,0.9,0.8,nan,0,0,1,1,1", "a,map,x,9,0.8,0.1,0,0,1,1,1", "a,map,x,0.9,0.8,0,0,0,z,1,1"):
        with pytest.raises(sweeps.SweepError, match="cannot be read"):
            sweeps.read(table(tmp_path, "broken.csv", COMPARED, broken))


def test_folds_are_listed_separately_and_averaged(tmp_path):
    folds = sweeps.read(
        table(
            tmp_path,
            "folds.csv",
            "seed,fold,best_epoch,classifier,accuracy,macro_f1",
            "1,1,3,network,0.8,0.7",
            "1,2,3,network,0.9,0.7",
        )
    )
    assert [sweeps.label(varied) for varied, _ in folds.variants] == ["fold = 1", "fold = 2", "all folds"]
    assert folds.variants[2][1]["accuracy"].value == pytest.approx(0.85)
    assert "cross-validation over train and dev (2 folds)" in sweeps.caption(folds, "SICK dev")


def test_a_tables_own_dev_set_is_named_in_its_caption(tmp_path: Path) -> None:
    (tmp_path / "seeds.csv").write_text("seed,best_epoch,dev,accuracy\n1,2,SICK trial,0.8\n2,2,SICK trial,0.9\n")
    sweep = sweeps.read(tmp_path / "seeds.csv")
    assert sweeps.caption(sweep, "SICK trial (trained on)").startswith("Accuracy on SICK trial with the classifier")


@pytest.mark.parametrize(
    ("content", "why"),
    [
        (b"", "no runs"),
        (b"\xff\xfe\x00", "not UTF-8"),
        (b"epoch,loss\n1,2\n", "does not name"),
        (HEAD.encode() + b"1,3,network,0.8\n", "longer or shorter"),
        (HEAD.encode() + b'1,"3\n', "end of data"),
        (HEAD.encode() + b"1,3,network,nan,1,1,1\n", "accuracy holds 'nan'"),
        (b"seed," + HEAD.encode() + b"1," * 7 + b"1", "does not name"),
        (HEAD.encode() + b"1,3,network,84.1,1,1,1\n", "from 0 to 1"),
        (b"x" * 1_000_001, "1 MB"),
    ],
)
def test_a_broken_or_foreign_table_gets_one_sentence(tmp_path, content, why):
    (tmp_path / "own.csv").write_bytes(content)
    with pytest.raises(sweeps.SweepError, match=why) as error:
        sweeps.read(tmp_path / "own.csv")
    assert str(error.value).startswith(f"own.csv in the folder of {tmp_path.name}")
    with pytest.raises(sweeps.SweepError, match="No such file"):
        sweeps.read(tmp_path / "gone.csv")


def test_tables_are_shown_as_text_with_their_card_and_can_be_downloaded(checkpoints, tmp_path, monkeypatch):
    folder = tmp_path / "own"
    shutil.copytree(checkpoints / "test-te", folder)
    made = json.loads((folder / "card.json").read_text())
    (folder / "card.json").write_text(json.dumps(made | {"recipe": {"dev": {"name": "<i>dev</i>"}}}))
    table(folder, "a_b<b>.csv", "model.<img src=x>," + HEAD, "<script>1</script>**x**,1,3,network,0.8,0.7,0.79,0.80")
    table(folder, "broken.csv", "<u>a</u>")
    table(folder, "figure6.csv", "model.k," + HEAD, *(f"{k},1,3,network,0.8,0.7,0.79,0.8" for k in (1, 2)))
    table(folder, "comparisons.csv", COMPARED, "<b>x</b>,map,<u>dev</u>,0.6,0.5,0.1,0.05,0.2,9,1,1")
    words = [f"{word},1,3,network,0.8,0.7,0.79,0.8,trainers <b>again</b>" for word in ("how", "<i>why</i>")]
    table(folder, "figure3b.csv", "question_word," + HEAD.strip() + ",command", *words)
    monkeypatch.setenv("PAIRLENS_CHECKPOINTS", str(tmp_path))
    monkeypatch.setattr("core.checkpoint.PRETRAINED", tmp_path / "none")
    app, page = models(model="own")
    shown = [cell for part in app.expander for table in part.table for cell in table.value.to_numpy().ravel()]
    assert r"\<img src\=x\> \= \<script\>1\</script\>\*\*x\*\*" in shown, "no cell is read as Markdown"
    assert [one.label for one in app.expander] == [
        r"A b\<b\>",
        "Comparisons",
        "Figure3b",
        "Figure6",
    ]
    assert "Accuracy on &lt;i&gt;dev&lt;/i&gt;" in page
    assert not any(tag in part.proto.body for part in app.get("html") for tag in ("<script", "<img", "<i>", "<u>"))
    assert page.count('class="pl-notice"') == 1
    assert "broken.csv in the folder of own" in page
    assert "Test entailment phrases" in page
    assert "k = 2" in page and r"question word \= \<i\>why\</i\>" in shown
    assert [code.value for code in app.expander[2].code] == ["trainers <b>again</b>"]
    assert r"\<b\>x\</b\>" in shown and "+0.1000 [+0.0500, +0.2000]" in page and "higher" in page
    assert [button.proto.label for button in app.get("download_button")] == [
        r"a\_b\<b\>\.csv",
        r"comparisons\.csv",
        r"figure3b\.csv",
        r"figure6\.csv",
    ]
