"""Context for an adapted model's score: simpler models, and the learning curve with its sentence."""

from __future__ import annotations

import numpy as np

from core.adaptation.baselines import baselines, said
from core.adaptation.curve import Curve, Point, learning_curve, sizes
from core.evaluation.intervals import wilson
from core.evaluation.scores import RankedRows, ranking

NOUNS = ("dog", "cat", "boat", "tree", "car", "house", "bird", "lamp")


def made(rows, label_of):
    """Pairs of two nouns each, half of them the same noun twice, and their labels."""
    random = np.random.default_rng(rows)
    pairs = []
    for row in range(rows):
        one, two = random.choice(NOUNS, 2, replace=False)
        pairs.append((f"the {one} {row}", f"the {one if row % 2 else two} is {random.choice(['red', 'blue'])}"))
    return pairs, [label_of(*pair) for pair in pairs]


def scores(label_of, roles=("claim", "evidence")):
    found = baselines(*made(200, label_of), *made(60, label_of), roles)
    return {one.name: one for one in found}


def test_simpler_models_show_what_gives_a_label_away():
    found = scores(lambda one, two: "yes" if "red" in two else "no")
    assert found["the evidence alone (TF-IDF)"].score == 1 > 0.7 > found["the claim alone (TF-IDF)"].score
    found = scores(lambda one, two: "yes" if one.split()[1] in two else "no")
    both, alone = found["TF-IDF with word overlap"].score, found["the evidence alone (TF-IDF)"].score
    assert both > 0.95 > 0.75 > alone
    most = found["majority class"]
    assert (most.score, most.low, most.high) == (0.5, *wilson(30, 60))
    assert said([most]) == "simpler models on the same rows (accuracy): majority class 50.0\u00a0% (37.7 – 62.3)."
    single = scores(lambda one, two: "yes" if "dog" in one else "no", ("text", ""))
    assert list(single) == ["majority class", "TF-IDF"] and single["TF-IDF"].score == 1
    assert list(scores(lambda one, two: "yes")) == ["majority class"]


def test_the_majority_is_of_the_rows_that_are_trained_on():
    gold = ["x", "x", "x", "y"]
    for labels, score in ((["y", "x", "y", "x", "y"], 0.25), (["y", "y", "x", "x", "z"], 0.75), (["z", "x", "z"], 0)):
        (most, _) = baselines([("a", "")] * len(labels), labels, [("a", "")] * 4, gold, ("text", ""))
        assert most.score == score


def test_simpler_models_of_answers_are_ranked_by_question():
    pairs, labels = made(200, lambda one, two: "yes" if one.split()[1] in two else "no")
    others, gold = made(60, lambda one, two: "yes" if one.split()[1] in two else "no")
    ranked = RankedRows("yes", [row // 4 for row in range(60)], [label == "yes" for label in gold])
    found = baselines(pairs, labels, others, gold, ("question", "answer"), ranked=ranked)
    order, both, *alone = found
    assert (order.name, both.name) == ("random order", "TF-IDF with word overlap") and len(alone) == 2
    assert order.score == ranking(ranked.questions, ranked.relevant, [0.0] * 60).map and both.score > 0.9 > order.score
    assert order.low <= order.score <= order.high and "rows (MAP): random order" in said(found, "MAP")
    classes = np.array([label == "yes" for label in labels]).astype(int)
    curve = learning_curve(classes, np.zeros(60), lambda rows: np.array(ranked.relevant), measured=ranked.precisions)
    assert [point.score for point in curve.points] == [1.0] * 4, "all right answers first"


def test_overlap_tells_which_text_has_the_words_of_the_other():
    def pairs(start):
        texts = [[f"w{start + 5 * row + word}" for word in range(5)] for row in range(40)]
        texts = [(" ".join(words), " ".join(words[:2])) for words in texts]
        return [pair if row % 2 else pair[::-1] for row, pair in enumerate(texts)]

    labels = ["more" if row % 2 else "less" for row in range(40)]
    found = {one.name: one for one in baselines(pairs(0), labels, pairs(1_000), labels, ("claim", "evidence"))}
    assert found["TF-IDF with word overlap"].score == 1


def test_the_curve_grows_by_nested_samples_of_all_classes():
    labels, gold = np.arange(230) % 3 % 2, np.zeros(50, dtype=int)
    seen, steps = [], []

    def predicted(rows):
        seen.append(rows)
        return np.where(np.arange(50) < len(rows) / 5, 0, 1)

    curve = learning_curve(labels, gold, predicted, steps.append)
    large = list[int]()
    learning_curve(np.arange(11_000) % 2, gold, lambda rows: np.zeros(len(gold)), large.append)
    assert [large.count(size) for size in (3_200, 6_400, 11_000)] == [3, 1, 1], "one draw of many pairs is enough"
    assert sizes(230) == [25, 50, 100, 200, 230] and steps == [25] * 3 + [50] * 3 + [100] * 3 + [200] * 3 + [230]
    assert [point.score for point in curve.points] == [0.1, 0.2, 0.4, 0.8, 0.92]
    assert all(point.low < point.score < point.high for point in curve.points)
    for rows, larger in zip(seen[:9], seen[3:12], strict=True):
        assert set(rows) < set(larger) and abs((labels[rows] == 1).mean() - 1 / 3) < 0.1
    assert curve.since == 100 and abs(curve.gain - 0.52) < 1e-9 and curve.low < 0.52 < curve.high
    assert learning_curve(labels[:12], gold, predicted).outlook().startswith("There are too few pairs")


def test_the_curve_says_whether_more_labels_would_help():
    points = (Point(100, 0.7, 0.6, 0.8), Point(200, 0.73, 0.6, 0.8))

    def outlook(*gain):
        return Curve(points, 100, *gain).outlook()

    assert outlook(0.03, 0.01, 0.05) == (
        "More labels would probably help: from 100 to 200 labels the score changed by +3.0 points (+1.0 to +5.0)."
    )
    assert "would hardly help" in outlook(-0.002, -0.015, 0.011) and "−0.2 points (−1.5 to +1.1)" in outlook(
        -0.002, -0.015, 0.011
    )
    assert "cannot be told" in outlook(0.03, -0.02, 0.08)
