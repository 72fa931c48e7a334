"""Adaptation: the fit against a slow loop, bits kept without corrections, and what corrections change."""

from __future__ import annotations

import csv
import itertools
from collections import Counter

import numpy as np
import pytest
import torch
from sklearn.linear_model import LogisticRegression

from core.adaptation import adapt, fits, what_changed
from core.adaptation.adapt import LEARNED, Examples, classifier_of
from core.adaptation.features import KEPT_PAIRS, feature_vectors, kept_features, kept_pairs
from core.adaptation.fits import FOLDS, KEEP, PULLS, Linear, fresh, held_out_pull, pulled, spread
from core.adaptation.what_changed import KindEffect, WhatChanged, learned_with_less
from core.checkpoint import load_named
from core.evaluation.suites import SUITES, exchange, kind_of_exchange
from tests.core.made_up import OWN, PAIRS, answered


@pytest.mark.slow
def test_the_corrected_classifier_is_the_minimum_that_a_slow_loop_finds():
    torch.manual_seed(1)
    old = Linear(torch.randn(3, 5), torch.randn(3))
    x, y, kept = torch.randn(4, 5), torch.tensor([0, 2, 2, 1]), torch.randn(7, 5)
    found = pulled(old, x, y, kept, pull=0.7, keep=0.5)
    weight = old.weight.double().requires_grad_()
    bias = old.bias.double().requires_grad_()
    before = torch.log_softmax(old.logits(kept), 1)
    for _ in range(4000):
        pair_loss = -torch.log_softmax(x.double() @ weight.T + bias, 1)[range(4), y].sum()
        moved = (weight - old.weight).square().sum() + (bias - old.bias).square().sum()
        now = torch.log_softmax(kept.double() @ weight.T + bias, 1)
        kl = (before.exp() * (before - now)).sum()
        steps = torch.autograd.grad(pair_loss + 0.7 * moved + 0.5 * kl, (weight, bias))
        with torch.no_grad():
            weight -= 0.02 * steps[0]
            bias -= 0.02 * steps[1]
    torch.testing.assert_close(found.weight.double(), weight.detach(), atol=1e-6, rtol=0)
    torch.testing.assert_close(found.bias.double(), bias.detach(), atol=1e-6, rtol=0)


def test_a_new_classifier_of_raw_features_is_the_one_of_standardised_ones():
    torch.manual_seed(2)
    x = torch.randn(40, 3) * torch.tensor([1.0, 100.0, 0.01]) + 5
    y = (x[:, 1] > 5).long() + (x[:, 2] > 5).long()
    folds = torch.arange(40).numpy() % 4
    one, strength, right = fresh(x, y, folds)
    stretched, same, _ = fresh(x * torch.tensor([7.0, 0.1, 3.0]), y, folds)
    assert strength == same
    torch.testing.assert_close(one.logits(x), stretched.logits(x * torch.tensor([7.0, 0.1, 3.0])), atol=2e-3, rtol=0)
    assert right.shape == (40,) and right.dtype == bool
    scaled = ((x - x.mean(0)) / x.std(0, correction=0)).numpy()
    for labels, weights in itertools.product((y, (y > 1).long()), (None, "balanced")):
        own = fresh(x, labels, folds, balanced=weights is not None, strength=0.05).linear.logits(x).softmax(1)
        theirs = LogisticRegression(C=0.05, class_weight=weights, tol=1e-8).fit(scaled, labels)
        assert own.numpy() == pytest.approx(theirs.predict_proba(scaled), abs=1e-3)
    two = fresh(x, (y > 0).long(), folds).linear
    assert two.weight.shape == (2, 3) and two.logits(x).sum(1).abs().max() < 1e-3


def test_the_kept_pairs_are_in_no_suite():
    with KEPT_PAIRS.open(encoding="utf-8") as file:
        rows = list(csv.reader(file, delimiter="\t", quoting=csv.QUOTE_NONE))
    assert {len(row) for row in rows} == {4} and 390 < 3 * len(rows[1:]) < 450
    texts = {text.lower().rstrip(".") for row in rows for text in row}
    tested = {
        text.lower().rstrip(".")
        for suite in SUITES.values()
        for row in suite.pairs.rows
        for text in (row.first, row.second)
    }
    assert not texts & tested
    exchanges = [exchange(premise, text) for premise, *others in rows for text in others]
    assert not [words for words in exchanges if words and kind_of_exchange(*words)]


@pytest.mark.slow
@pytest.mark.parametrize("name", ["nli-two-sided", "nli-esim", "para-adaqa", "sentiment-acnn", "guest-minilm"])
def test_what_the_output_layer_reads_gives_the_logits_and_no_correction_changes_a_bit(name):
    base = load_named(name)
    pairs = kept_pairs(base)[:6]
    torch.testing.assert_close(
        base.model.output_layer(feature_vectors(base, pairs)), answered(base, pairs), atol=1e-5, rtol=0
    )
    same = adapt(base, [], [])
    assert torch.equal(answered(same, pairs), answered(base, pairs))
    mine = adapt(base, pairs, OWN)
    assert mine.labels == ("other", "same") and "results" not in mine.card and mine.card["base"]["name"] == name
    torch.testing.assert_close(
        mine.model.output_layer(feature_vectors(base, pairs)), answered(mine, pairs), atol=1e-5, rtol=0
    )
    assert torch.equal(answered(base, pairs), answered(load_named(name), pairs)), "the base is unchanged"


@pytest.mark.slow
def test_corrections_do_not_depend_on_their_order_and_keep_other_answers():
    base = load_named("nli-attconv-light")
    wrong = [("A Danish boy runs.", "A Swedish boy runs."), ("An Irish man eats.", "A Greek man eats.")]
    one = adapt(base, wrong, ["contradiction", "contradiction"])
    other = adapt(base, wrong[::-1], ["contradiction", "contradiction"])
    assert torch.equal(answered(one), answered(other))
    assert {one.labels[place] for place in answered(one, wrong).argmax(1)} == {"contradiction"}
    pull, chances = one.card["adaptation"]["pull"], answered(one, wrong).softmax(1)
    assert chances[:, one.labels.index("contradiction")].min() >= LEARNED and pull in PULLS
    stronger = adapt(base, wrong, ["contradiction"] * 2, pull=PULLS[PULLS.index(pull) + 1])
    assert answered(stronger, wrong).softmax(1)[:, one.labels.index("contradiction")].min() < LEARNED
    examples, others = Examples.of(base, wrong, ["contradiction"] * 2), kept_features(base)
    fitted = pulled(
        classifier_of(base), examples.features, examples.labels, others, pull=pull * spread(others), keep=KEEP
    )
    assert torch.equal(one.model.output_layer.weight, fitted.weight), "a pull is by the spread of the features"
    kept = kept_pairs(base)
    free = adapt(base, wrong, ["contradiction", "contradiction"], keep=0)
    before = answered(base, kept).argmax(1)
    changed, freely = ((answered(now, kept).argmax(1) != before).sum() for now in (one, free))
    assert changed < freely


@pytest.mark.slow
def test_a_sample_of_many_labels_moves_the_classifier_only_as_far_as_rows_held_out_confirm():
    """Labels drawn from its own probabilities leave it as it was; other classes teach it."""
    old = Linear(torch.eye(3, 8) * 2, torch.zeros(3))
    x, folds = torch.from_numpy(np.random.default_rng(3).normal(size=(120, 8))).float(), np.arange(120) % FOLDS
    own = torch.multinomial(old.logits(x).softmax(1), 1, generator=torch.Generator().manual_seed(1))[:, 0]
    turned = (old.logits(x).argmax(1) + 1) % 3
    pulls = [held_out_pull(old, x, labels, folds, spread(x)) for labels in (own, turned)]
    assert pulls[0] == PULLS[-1] and pulls[1] <= 0.03
    base = load_named("nli-attconv-light")
    first, second = "A {} man has a dog.", "A {} man has {} dogs."
    pairs = [(first.format(own), second.format(own, other)) for own in ("tall", "old", "sad") for other in range(2, 20)]
    sample = adapt(base, pairs, ["contradiction"] * len(pairs))
    assert sample.card["adaptation"]["keep"] == 0 and sample.card["adaptation"]["pull"] in PULLS
    assert adapt(base, pairs[:50], ["contradiction"] * 50).card["adaptation"]["keep"] == KEEP


def test_a_fit_ends_when_its_step_says_so_and_many_pairs_give_the_same_in_blocks(monkeypatch):
    torch.manual_seed(4)
    x, y = torch.randn(60, 5), torch.arange(60) % 3
    old = Linear(torch.randn(3, 5), torch.zeros(3))

    class StopError(Exception):
        pass

    def stop():
        raise StopError

    for fit in (
        lambda: fresh(x, y, torch.arange(60).numpy() % 4, step=stop),
        lambda: pulled(old, x, y, pull=1.0, step=stop),
    ):
        with pytest.raises(StopError):
            fit()
    at_once = fresh(x, y, torch.arange(60).numpy() % 4).linear, pulled(old, x, y, pull=1.0)
    monkeypatch.setattr(fits, "_AT_ONCE", 10)
    monkeypatch.setattr(fits, "_BLOCK", 35)
    in_blocks = fresh(x, y, torch.arange(60).numpy() % 4).linear, pulled(old, x, y, pull=1.0)
    for one, other in zip(at_once, in_blocks, strict=True):
        torch.testing.assert_close(one.logits(x), other.logits(x), atol=1e-4, rtol=0)


def test_25_pairs_are_not_all_in_one_class():
    """In features that are mostly noise, log loss is lowest without any of them."""
    torch.manual_seed(6)
    x, tested = torch.randn(25, 200), torch.randn(400, 200)
    y = (x[:, :20].sum(1) > 0).long()
    found = fresh(x, y, torch.arange(25).numpy() % 4)
    assert found.strength * 25 >= fits.LEAST_STRENGTH
    assert 60 < int(found.linear.logits(tested).argmax(1).sum()) < 340


def test_what_corrections_change_is_counted_pair_by_pair(monkeypatch):
    base, suite, rows = load_named("nli-attconv-light"), SUITES["simple"], SUITES["simple"].pairs.rows
    torch.manual_seed(3)
    features, (old, new) = torch.randn(len(rows), 4), (Linear(torch.randn(3, 4), torch.zeros(3)) for _ in range(2))
    gold = np.array([base.labels.index(row.label) for row in rows])
    kinds = np.array([row.columns["kind"] for row in rows])
    corrected = Examples(PAIRS, torch.tensor([0, 1, 2, 0, 1, 2]), base.labels, torch.randn(6, 4), np.zeros(6))
    found = what_changed.compared(base, corrected, old, new, 0.1, [what_changed.Tested(suite, features, gold, kinds)])
    was, now = (old.logits(features).argmax(1).numpy() == gold, new.logits(features).argmax(1).numpy() == gold)
    for one in found.kinds:
        pairs = Counter((bool(was[at]), bool(now[at])) for at in np.flatnonzero(kinds == one.kind))
        assert (one.fixed, one.cost, one.total) == (pairs[False, True], pairs[True, False], pairs.total())
        assert (one.before, one.after) == (pairs[True, True] + one.cost, pairs[True, True] + one.fixed)
        (at,) = [at for at, row in enumerate(rows) if (row.first, row.second) == one.example]
        assert kinds[at] == one.kind and was[at] != now[at], "one of the pairs that changed"
    shares = [(one.after - one.before) / one.total for one in found.kinds]
    assert len(shares) == len({*kinds}) and shares == sorted(shares), "worst losses first"
    monkeypatch.setattr(what_changed, "tested", lambda base: ())
    both = [Examples.of(base, PAIRS[:1], [label]) for label in ("neutral", "contradiction")]
    chosen = [what_changed.fitted(base, one, 0.1).linear.logits(one.features).argmax() for one in both]
    assert [base.labels[at] for at in chosen] == ["neutral", "contradiction"], "each is fitted separately"


def test_a_pull_that_learns_too_little_names_one_that_learns_more():
    def changed(pull, learned, lost):
        return WhatChanged(pull, 2, 0, learned, (KindEffect("S", "at least", 22, 22, 22 - lost, 0, lost, 1.0),))

    now = changed(1.0, 0, 1)
    assert learned_with_less(now, [changed(0.1, 2, 3), changed(0.3, 2, 2)]) == (
        "With the pull at 6 of 9, 2 of 2 stand, and “at least” falls from 22 to 20 of 22 test pairs."
    )
    assert learned_with_less(now, [changed(0.3, 1, 0)]) == "With the pull at 6 of 9, 1 of 2 stand."
    assert not learned_with_less(now, [changed(0.3, 0, 0)]) and not learned_with_less(now, [])
