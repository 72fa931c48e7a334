"""Effects of words, links and heads for external models, their cost, and the notes about it."""

from __future__ import annotations

import gc
import json
import weakref

import pytest
import torch

from core.checkpoint import load, load_named
from core.checkpoint.memory import memory_of
from core.effects import METHODS, Question, cost, layers
from core.effects.faithfulness import faithfulness
from core.effects.links import STRONGEST, LinksError, Taken
from core.effects.routes import RoutesError, log_odds
from core.effects.words import DROPPED, FEW, SAMPLING, TAKEN_AWAY
from core.errors import UserError
from core.evaluation.predict import predict
from core.evidence.as_json import to_dict
from core.evidence.effects import HEADS
from core.explain import explained
from core.external.patching import LayerPatch
from core.layers.attention import Knockout
from core.models.intervention import Intervention
from core.models.routes import Patching
from tests.guests import make

PAIR = ("A man's dog can't run near the embassy.", "The  dog doesn't run.")


@pytest.fixture(scope="module")
def guest(tmp_path_factory):
    return load(make(tmp_path_factory.mktemp("guests") / "bert"))


def test_every_record_counts_its_passes(guest, monkeypatch):
    """Counted by the rows that reach the transformer."""
    rows = []
    body = guest.model.body.forward

    def counted(*args, **values):
        rows.append(len(values["attention_mask"]))
        return body(*args, **values)

    monkeypatch.setattr(guest.model.body, "forward", counted)

    def passes(answer, extra: int = 0) -> int:
        taken, rows[:] = sum(rows) - extra, []
        assert taken == (answer.passes if hasattr(answer, "passes") else sum(one.passes for one in answer))
        return taken

    assert passes(Question(guest, *PAIR).words()) == cost.of_words(Question(guest, *PAIR)).passes == 1 + 17 * (1 + 4)
    rows.clear()
    for method in (name for name, one in METHODS.items() if one.available(guest)):
        taken = passes(Question(guest, *PAIR).words(method))
        assert taken <= cost.of_words(Question(guest, *PAIR), method).passes
        rows.clear()
    more = passes(Question(guest, *PAIR, sampling=SAMPLING).words())
    assert more == 1 + 17 * 17
    # In addition to the links: the pair itself, twice, and its attention.
    assert passes(Question(guest, *PAIR).links(Taken.RENORMALISED), extra=3) == 2 * STRONGEST
    assert passes(Question(guest, *PAIR).links(Taken.RENORMALISED, every=True), extra=3) == 2 * 11 * 6
    assert passes(Question(guest, *PAIR).heads(), extra=3) == 3 * 4
    assert json.loads(json.dumps(to_dict(Question(guest, *PAIR).words())))["passes"] == 86
    rows.clear()
    measured = faithfulness(Question(guest, *PAIR))
    assert measured.passes - 40 <= sum(rows) <= measured.passes + 4 and "integrated-gradients" in measured.curves
    assert measured.passes <= cost.of_faithfulness(Question(guest, *PAIR)).passes


def test_links_in_all_layers_and_heads_as_a_whole(guest):
    asked = Question(guest, *PAIR)
    batch = guest.reader.batch(asked.reading)
    effects = Question(guest, *PAIR).links(Taken.RENORMALISED)[0]
    i, j = next((i, j) for i, row in enumerate(effects.effects) for j, one in enumerate(row) if one is not None)
    heads = Question(guest, *PAIR).heads()[0]
    with torch.inference_mode():
        cut = guest.model.under(batch, guest.model.knockouts.knocked_out(asked.reading, batch, 0, [(i, j)])).logits
        silent = guest.model.under(batch, Intervention(knockout=Knockout(heads=((1, 3),)))).logits
        weights = guest.model.under(batch, Intervention(head="")).trace.layers[1][0, 3]
    before = torch.tensor(asked.explanation.probabilities).log()[asked.target]

    def lost(logits: torch.Tensor) -> float:
        return float(before - torch.log_softmax(logits.double(), 1)[0, asked.target])

    assert effects.effects[i][j] == pytest.approx(lost(cut), abs=1e-6)
    assert heads.units == HEADS and heads.effects[1][3] == pytest.approx(lost(silent), abs=1e-6)
    assert 0 < heads.before[1][3] < float(weights.sum(1).mean()) + 1e-6
    with pytest.raises(LinksError, match="no attention heads"):
        Question(load_named("nli-two-sided"), *PAIR).heads()


def test_gradients_of_a_word_are_those_of_its_pieces(guest):
    """The length of a word's gradient, by small steps along it in its pieces' vectors."""
    asked = Question(guest, *PAIR)
    pieces = guest.reader.batch(asked.reading)
    words = Question(guest, *PAIR).words("gradient-norm").words
    vectors, log_p = guest.model.by_vectors(pieces, asked.target)
    (slopes,) = torch.autograd.grad(log_p(vectors.requires_grad_()).sum(), vectors)
    with torch.inference_mode():
        for number in (2, 11):
            own = (pieces.owners[0] == number).double()[None, :, None]
            along = slopes.double() * own
            step = 1e-2 * along / along.norm()
            up, down = (log_p((vectors + sign * step).float()) for sign in (1, -1))
            assert words[number].effect == pytest.approx(float(up - down) / 2e-2, abs=2e-3)
        assert log_p(vectors)[0] == pytest.approx(torch.tensor(asked.explanation.probabilities).log()[asked.target])
    effects = Question(guest, *PAIR).words("integrated-gradients")
    assert sum(effects.completeness) / 2 == pytest.approx(effects.completeness[1], abs=1e-2)


def test_costs_are_given_in_passes_and_seconds(guest):
    slow = guest.__class__(**{**vars(guest), "seconds": 0.05})
    words = cost.of_words(Question(slow, *PAIR))
    assert str(words) == "86 passes, about 3 s"
    assert words.seconds == pytest.approx(86 * 0.05 * 17 / 21) and not words.brisk
    assert cost.of_words(Question(slow, *PAIR), DROPPED).passes == 18
    with pytest.raises(UserError, match="unknown method 'droped'; did you mean 'dropped'"):
        cost.of_words(Question(slow, *PAIR), "droped")
    assert str(cost.Cost(1024, 50.2)) == "1,024 passes, about 50 s"
    assert str(cost.Cost(1, 0.21)) == "1 pass, about 0.2 s" and cost.Cost(1, 0.21).brisk
    assert str(cost.Cost(20_000, 600)) == "20,000 passes, about 10 minutes"
    own = cost.of_words(Question(load_named("nli-two-sided"), *PAIR))
    assert own.brisk and own.passes == 1 + 17 * 18 and str(own) == "307 passes"


def test_a_slow_model_reports_progress_every_few_words(guest):
    slow = guest.__class__(**{**vars(guest), "seconds": 0.1})
    reported = []
    readings = [slow.read(*PAIR) for _ in range(11)]
    predict(slow, readings, progress=reported.append)
    assert reported == [4, 8, 11]
    assert (
        Question(guest, *PAIR).words(TAKEN_AWAY).words == Question(guest, *PAIR, sampling=FEW).words(TAKEN_AWAY).words
    )
    assert Question(guest, *PAIR, sampling=SAMPLING).words(TAKEN_AWAY).passes > 200


def test_memory_is_free_after_it_has_left(tmp_path, monkeypatch):
    """One that is larger than the limit stays alone, and goes with all its tensors when another is asked for."""
    for name in ("one", "two"):
        make(tmp_path / name)
    monkeypatch.setenv("PAIRLENS_CHECKPOINTS", str(tmp_path))
    monkeypatch.setenv("PAIRLENS_MEMORY_MB", "0.01")
    first = load_named("one")
    assert memory_of(first) > 0.01e6 and load_named("one") is first
    explained(first, *PAIR)
    Question(first, *PAIR).words(TAKEN_AWAY)
    Question(first, *PAIR).links(Taken.RENORMALISED)
    Question(first, *PAIR).heads()
    left = [weakref.ref(parameter) for parameter in first.model.parameters()]
    del first
    load_named("two")
    gc.collect()
    assert left and all(one() is None for one in left)


def test_a_state_from_the_other_version_restores_what_a_hook_would(guest):
    """Each word after each layer, and what all states and no state of a layer give."""
    one, other = (guest.read("The dog chases the cat", text) for text in ("The dog doesn't run", "The cat doesn't run"))
    found = layers.divide(guest, one, other, lambda done, of: None)
    model, versions = guest.model, guest.reader.batch_of([one, other])
    rows = {name: values.clone() for name, values in versions.inputs.items()}
    run = lambda: model.body(**rows, attention_mask=versions.real.long())  # noqa: E731
    with torch.inference_mode():
        own, changed = log_odds(run().logits, guest.labels.index(found.verdict)).tolist()
    assert found.difference == pytest.approx(own - changed, abs=1e-5)
    words = versions.of_words.bool()
    assert len(found.words[0]) == len(words) and [*zip(*found.words, strict=True)][6] == ("dog", "cat")
    for number, layer in enumerate(model.body.bert.encoder.layer):
        for word, pieces in enumerate(words):

            def taken(module, given, result, pieces=pieces):
                states = (result[0] if isinstance(result, tuple) else result).clone()
                states[0, pieces] = states[1, pieces]
                return (states, *result[1:]) if isinstance(result, tuple) else states

            hook = layer.register_forward_hook(taken)
            with torch.inference_mode():
                patched = log_odds(run().logits[0], guest.labels.index(found.verdict)).item()
            hook.remove()
            assert found.states[number][word] * found.difference == pytest.approx(own - patched, abs=1e-4)
    for layer in range(len(model.states)):
        whole = torch.stack([torch.ones_like(words[0]), torch.zeros_like(words[0])])
        with torch.inference_mode():
            all_taken, none_taken, *ends = model.patched(versions, LayerPatch(layer, whole, 0))
        torch.testing.assert_close(torch.stack([none_taken, all_taken]), torch.stack(ends), atol=1e-5, rtol=0)
    assert all(not module._forward_hooks for module in model.body.modules())
    with pytest.raises(RoutesError, match="different numbers of pieces"):
        Question(guest, "The dog chases the cat", "The embassy runs").routes("The dog chases the cat", "The dog runs")


def test_a_head_takes_its_pattern_or_its_values_alone(guest):
    one, other = (guest.read("The dog chases the cat", text) for text in ("The dog doesn't run", "The cat doesn't run"))
    heads, model = guest.model.config.heads, guest.model
    for versions, moves in (([one, other], True), ([one, one], False)):
        batch = guest.reader.batch_of(versions)
        nothing = torch.zeros(0, batch.real.shape[1], dtype=torch.bool)
        with torch.inference_mode():
            *rows, own, _ = model.patched(batch, LayerPatch(0, nothing, heads))
        assert len(rows) == 2 * heads
        assert all(((row - own).abs().max().item() > 1e-6) == moves for row in rows)
        with pytest.raises(ValueError, match="cannot be set"):
            model.under(batch, Intervention(patching=Patching()))
