"""The contract of every registered model's evidence; new models are tested without any change here."""

import dataclasses
import json

import pytest
import torch

from core.adaptation import adapt
from core.checkpoint import CheckpointError, load
from core.checkpoint.adapted import save_adapted
from core.evidence import (
    AttentionMap,
    Explanation,
    FilterProducts,
    FilterProvenance,
    PooledAttention,
)
from core.explain import explain
from tests.choices import PAIRS, every_choice
from tests.core.made_up import make_checkpoint, make_table
from tests.models import (
    LENGTHS,
    batch_of,
    close,
    fits,
    make,
    own_attention,
    tiny,
)
from tests.rebuilt import Rebuilt, kinds_without_a_rebuilder, near

FIRST, SECOND = "the dog", "a red man is in the snow"


@pytest.fixture(scope="module")
def table():
    return make_table()


@pytest.fixture(scope="module")
def told(tmp_path_factory, table):
    """Makes (checkpoint, explanation) of an architecture with these settings. No test changes them, so the tests of one
    choice share both."""
    checkpoints, explanations = {}, {}

    def tell(architecture, settings, judged="second", texts=(FIRST, SECOND)):
        known = architecture, str(settings), judged
        if known not in checkpoints:
            own = {name: value for name, value in settings.items() if name != "adapted"}
            sizes = tiny(architecture, **own) | {"input_size": table.width}
            checkpoint = make_checkpoint(tmp_path_factory.mktemp("told"), table, architecture, judged, **sizes)
            if "adapted" in settings:
                few = [(FIRST, SECOND), (SECOND, FIRST), ("a toy", "a red dog"), ("a man plays", "the snow")]
                mine = adapt(checkpoint, few, ["same", "other", "other", "same"])
                checkpoint = save_adapted(tmp_path_factory.mktemp("mine") / "mine", mine)
            checkpoints[known] = checkpoint
        if (*known, texts) not in explanations:
            explanations[*known, texts] = explain(checkpoints[known], *texts)
        return checkpoints[known], explanations[*known, texts]

    return tell


@every_choice
def test_it_returns_the_records_it_declares(architecture, settings, told):
    checkpoint, explanation = told(architecture, settings)
    returned = {type(record) for record in explanation.evidence if not record.of_every_model}
    assert returned == set(checkpoint.model.shows(checkpoint.card["config"]))
    if own_attention(checkpoint.model(checkpoint.reader.batch(checkpoint.read(FIRST, SECOND)))) is not None:
        assert returned & {AttentionMap, PooledAttention}, "a model that attends returns evidence of it"
    titles = [record.title for record in explanation.evidence if record.tabular]
    assert len({*titles}) == len(titles), "tables are saved under different names"


@every_choice
def test_only_wanted_records_are_made(architecture, settings, told):
    checkpoint, explanation = told(architecture, settings)
    shown = checkpoint.model.shows(checkpoint.card["config"])
    for wanted in ((), *((kind,) for kind in shown)):
        evidence = explain(checkpoint, FIRST, SECOND, records=wanted).evidence
        assert evidence == tuple(record for record in explanation.evidence if type(record) in wanted)


@every_choice
def test_records_name_the_right_sentences(architecture, settings, told):
    for judged in ("first", "second"):
        checkpoint, explanation = told(architecture, settings, judged)
        assert explanation.judged == checkpoint.roles["judged"]
        for record in explanation.evidence:
            assert fits(record, checkpoint, explanation), record


@pytest.mark.parametrize("architecture", PAIRS)
def test_both_sides_judged_are_read_or_refused(architecture, told):
    model = make(architecture)
    batch = batch_of(model, LENGTHS, "both")
    if not model.reads(dataclasses.asdict(model.config)).both:
        with pytest.raises(ValueError, match="judges one side"):
            model(batch)
        with pytest.raises(CheckpointError, match="judges one side"):
            told(architecture, {}, "both")
        return
    assert close(model(batch).logits, model(batch_of(model, LENGTHS, "second")).logits)
    checkpoint, explanation = told(architecture, {}, "both")
    assert explanation.judged == "both" and all(fits(r, checkpoint, explanation) for r in explanation.evidence)


@every_choice
def test_an_explanation_saved_or_from_a_saved_model_is_the_same(architecture, settings, told):
    checkpoint, explanation = told(architecture, settings)
    assert sum(explanation.probabilities) == pytest.approx(1, abs=1e-6)
    assert Explanation.from_dict(json.loads(explanation.to_json())) == explanation
    again = explain(load(checkpoint.folder), FIRST, SECOND)
    assert (again.logits, again.evidence) == (explanation.logits, explanation.evidence)


@every_choice
def test_the_words_that_a_record_names_rebuild_its_numbers(architecture, settings, told):
    """By text, from the equations: a position one word off, another side or another window has other numbers."""
    for judged, texts in (("second", (FIRST, SECOND)), ("first", ("the red man plays", "a dog is\nin the snow"))):
        checkpoint, explanation = told(architecture, settings, judged, texts)
        evidence = [record for record in explanation.evidence if not record.of_every_model]
        assert not kinds_without_a_rebuilder(evidence), "rebuild this record in tests/rebuilders"
        rebuilt = Rebuilt(checkpoint, explanation)
        assert [*explanation.logits] == near(rebuilt.loop["logits"])
        for record in evidence:
            rebuilt.check(record)
        rebuilt.finish()


@every_choice
def test_its_records_tell_themselves_as_text_html_and_csv(architecture, settings, told):
    _, explanation = told(architecture, settings, texts=("the <b>", "=dog <b> runs"))
    for record in explanation.evidence:
        assert all(isinstance(line, str) for line in record.to_text(explanation))
        assert "<b>" not in record.to_html(explanation)
        assert "\r" not in record.to_csv(explanation)


@every_choice
def test_the_parts_of_filters_add_up(architecture, settings, told):
    """Windows to pre-activations, and shares, products, linguistic features and the bias to logits."""
    _, explanation = told(architecture, settings)
    sides = [record for record in explanation.evidence if isinstance(record, FilterProvenance)]
    functions = {"tanh": torch.tanh, "ReLU": torch.relu}
    for side in sides:
        for f in side.filters:
            assert len(f.offsets) == side.width
            assert sum(f.offsets) + f.context + f.bias == pytest.approx(f.preactivation, abs=1e-5)
            assert f.left + f.self_ + f.right == pytest.approx(sum(f.offsets), abs=1e-5)
            activation = functions[side.activation](torch.tensor(f.preactivation)).item()
            assert f.activation == pytest.approx(activation, abs=1e-6)
    if sides and all(f.logit_shares for side in sides for f in side.filters):
        products = explanation.find(FilterProducts)
        for c, logit in enumerate(explanation.logits):
            total = sides[0].logit_bias[c] + sum(f.logit_shares[c] for side in sides for f in side.filters)
            if products is not None:
                total += sum(row[c] for row in products.products) + products.linguistic[c]
            assert total == pytest.approx(logit, abs=1e-4)


@every_choice
def test_an_explanations_own_attention_put_back_changes_nothing(architecture, settings, told):
    checkpoint, explanation = told(architecture, settings)
    own = own_attention(checkpoint.model(checkpoint.reader.batch(checkpoint.read(FIRST, SECOND))))
    if own is None:
        with pytest.raises(ValueError, match="no attention to replace"):
            explain(checkpoint, FIRST, SECOND, override=torch.ones(2, 7))
        return
    record = explanation.find(AttentionMap)
    if record is not None:
        own = torch.tensor(record.override or record.scores)
    else:  # the first text's, where each text has its own map
        own = own[0][0] if isinstance(own, tuple) else own[0]
    again = explain(checkpoint, FIRST, SECOND, override=own)
    assert again.logits == pytest.approx(explanation.logits, abs=1e-5)
    assert record is None or (again.find(AttentionMap).overridden and not record.overridden)
    with pytest.raises(ValueError, match=r"must be \[.*\], got \["):
        explain(checkpoint, FIRST, SECOND, override=own[..., :-1])
