"""The contract of every registered model: its forward pass and its learning; new models are tested without any
change here."""

import dataclasses
import itertools
import threading

import pytest
import torch

from core.models import REGISTRY, build
from core.reading.batch import Batch, Side
from tests.choices import PAIRS, every_choice, every_model
from tests.core.made_up import make_table
from tests.loops import CHOICES, LOOPS
from tests.models import (
    LENGTHS,
    batch_of,
    bfloat16_error,
    close,
    learns_by_heart,
    make,
    own_attention,
    part_float,
    row,
    single,
    tensors,
    tiny,
    with_pads,
)
from trainers.loop import ready
from trainers.recipe import Recipe
from trainers.set_up import Options
from trainers.sources import DataSource
from trainers.training_data import load_data


@every_choice
def test_equals_its_slow_loop(architecture, settings):
    assert architecture in LOOPS, f"write the equations of {architecture} into tests/loops, a number at a time"
    model = make(architecture, **settings)
    if model.config.linguistic != "none":
        model.extra_mean += 0.3
        model.extra_scale *= 2.0
    for lengths, judged in itertools.product(((7, 5), (5, 4), (1, 3), (2, 1), (1, 1)), ("first", "second")):
        batch = batch_of(model, [lengths], judged, seed=lengths[0])
        output = model(batch)
        extra = None if batch.extra is None else batch.extra[0].tolist()
        contexts = [context.words[0] for context in batch.contexts]
        expected = LOOPS[architecture](model, batch.first.words[0], contexts, batch.judged, extra)
        assert close(output.logits[0], expected.pop("logits"))
        assert close(output.features[0], expected.pop("features"))
        expected.pop("records", None)  # compared with the evidence, in tests.rebuilt
        for name, value in expected.items():
            assert close(getattr(output.trace, name)[0], value), name


@every_choice
def test_pads_full_of_noise_and_other_members_change_nothing(architecture, settings):
    model = make(architecture, **settings)
    batch = batch_of(model, LENGTHS)
    by_noise = {noise: model(with_pads(batch, noise)) for noise in (1e6, float("nan"), float("inf"))}
    for k in range(len(LENGTHS)):
        alone = model(row(batch, k))
        for noise, together in by_noise.items():
            assert close(together.logits[k], alone.logits[0]), noise
            assert close(together.features[k], alone.features[0]), noise
            for (name, ours), (_, expected) in zip(tensors(together.trace), tensors(alone.trace), strict=True):
                if len(ours) != len(LENGTHS):  # weights, the same for all rows
                    continue
                # Values beyond the row's words belong to pads.
                own = ours[k][tuple(map(slice, expected.shape[1:]))]
                bound = 1e-5 if own.dtype == torch.float32 else 1e-9
                torch.testing.assert_close(
                    own, expected[0], rtol=bound, atol=bound, msg=f"{name} of row {k} next to {noise}"
                )


@every_model
def test_float32_stays_itself_among_longer_members(architecture):
    torch.manual_seed(0)
    larger = {name: 300 for name in ("hidden", "filters") if name in tiny(architecture)}
    model = build(architecture, tiny(architecture, **larger)).eval()
    batch = batch_of(model, ((6, 7), (40, 40), (40, 30)))
    batch = Batch(*(part_float(part) for part in (batch.first, batch.contexts)), batch.judged)
    alone = model(row(batch, 0)).logits[0]
    assert alone.dtype == torch.float32 and close(model(batch).logits[0], alone, 1e-6)


@every_model
def test_the_order_of_a_batch_does_not_matter(architecture):
    model = make(architecture)
    batch, turned = (batch_of(model, LENGTHS), torch.arange(len(LENGTHS) - 1, -1, -1))
    sides = [Side(side.words[turned], side.mask[turned]) for side in (batch.first, *batch.contexts)]
    assert close(model(Batch(sides[0], tuple(sides[1:]), batch.judged)).logits[turned], model(batch).logits)


@pytest.mark.parametrize("architecture", PAIRS)
def test_the_first_text_is_not_the_second(architecture):
    model = make(architecture)
    batch = batch_of(model, ((4, 4),))
    turned = Batch(batch.second, (batch.first,), batch.judged)
    assert not close(model(turned).logits, model(batch).logits, 1e-6)


@every_choice
def test_a_finite_gradient_reaches_every_weight(architecture, settings):
    model = make(architecture, **settings).train()
    batch = batch_of(model, ((6, 9), (7, 5), (8, 6), (5, 5)))
    if batch.contexts:
        batch.contexts[0].words[0, 0] = batch.first.words[0, 0]  # a word of both is at distance 0 from itself
        batch.contexts[0].words[3, :5] = batch.first.words[3, :5]  # and so is a sentence
    model(batch).logits.logsumexp(1).sum().backward()
    for name, parameter in model.named_parameters():
        assert parameter.grad is not None and parameter.grad.abs().max() > 0, name
        assert parameter.grad.isfinite().all(), name


@every_choice
def test_bfloat16_is_within_5_per_cent(architecture, settings):
    assert bfloat16_error(architecture, settings) <= 0.05


@every_choice
def test_attention_put_in_place(architecture, settings):
    model = make(architecture, **settings)
    batch = batch_of(model, ((4, 5), (4, 5)))
    output = model(batch)
    own = own_attention(output)
    if own is None:
        for override in (torch.ones(2, 4, 5), torch.ones(2, 5, 4), torch.ones(2, 4)):
            with pytest.raises(ValueError, match="no attention to replace"):
                model(batch, override)
        return
    assert close(model(batch, own).logits, output.logits)
    maps = own if isinstance(own, tuple) else (own,)
    for place, weights in enumerate(maps):

        def alone(value, place=place):
            """This one map's override; the others stay."""
            return tuple(value if k == place else None for k in range(len(maps))) if len(maps) > 1 else value

        other = torch.linspace(1, -1, weights[0].numel()).view(weights[0].shape).expand_as(weights)
        changed = model(batch, alone(other))
        after = own_attention(changed)
        for k, theirs in enumerate(after if isinstance(after, tuple) else (after,)):
            assert torch.equal(theirs, other.to(weights) if k == place else maps[k])
        if not settings:  # full pooling of phrases keeps all of them, however they are aligned
            assert not close(changed.logits, output.logits, 1e-6)
        for wrong in (weights[..., :-1], weights[0], torch.ones(2, 3, 2, 1)):
            with pytest.raises(ValueError, match=r"must be \[.*\], got \["):
                model(batch, alone(wrong))


@every_model
def test_threads_may_share_a_model_and_a_forward_pass_leaves_nothing_behind(architecture):
    model = make(architecture)
    batches = [batch_of(model, ((3 + k, 2 + k),), seed=k) for k in range(4)]
    before = set(vars(model))
    expected = [model(batch).logits for batch in batches]
    got = [None] * 4

    def work(k):
        for _ in range(10):
            got[k] = model(batches[k]).logits

    threads = [threading.Thread(target=work, args=(k,)) for k in range(4)]
    [thread.start() for thread in threads], [thread.join() for thread in threads]
    assert set(vars(model)) == before
    assert all(close(ours, alone) for ours, alone in zip(got, expected, strict=True))


@every_choice
def test_a_batch_has_the_loss_and_gradient_of_its_rows_one_by_one(architecture, settings):
    model = make(architecture, **settings).train()
    batch, labels = batch_of(model, LENGTHS), torch.tensor([0, 1, 1, 0, 1])
    loss = torch.nn.functional.cross_entropy
    together = torch.autograd.grad(loss(model(batch).logits, labels), list(model.parameters()))
    single_losses = [loss(model(row(batch, k)).logits, labels[k : k + 1]) for k in range(len(LENGTHS))]
    one_by_one = torch.autograd.grad(torch.stack(single_losses).mean(), list(model.parameters()))
    for name, ours, theirs in zip(dict(model.named_parameters()), together, one_by_one, strict=True):
        torch.testing.assert_close(ours, theirs, rtol=1e-8, atol=1e-9, msg=name)


@every_model
def test_two_steps_of_the_training_loop_lower_the_loss(architecture, tmp_path):
    alone, texts, labels = single(architecture), ("the dog run", "a red man is in the snow", "a toy"), ("no", "yes")
    rows = [
        f"{first},{labels[i % 2]}" if alone else f"{first},{second},{labels[(i + j) % 2]}"
        for i, first in enumerate(texts)
        for j, second in enumerate(texts)
    ]
    head = "text,label" if alone else "sentence1,sentence2,label"
    (tmp_path / "few.csv").write_text("\n".join([head, *rows]))
    settings = {name: value for name, value in tiny(architecture).items() if name != "input_size"}
    few = DataSource("few", "few.csv")
    recipe = Recipe(
        "made-up",
        "Made up",
        architecture,
        train=(few,),
        dev=few,
        model=settings,
        labels=labels,
        warmup=0,
        **({"roles": ("text",), "judged": "text", "task": "text classification"} if alone else {}),
    )
    run = ready(recipe, load_data(recipe, tmp_path), make_table(), Options(tmp_path / "out", device="cpu"))
    losses = []
    for _ in range(3):
        before = run.loss.item()
        run.step(torch.arange(len(rows)).numpy())
        losses.append(run.loss.item() - before)
    assert losses[2] < losses[0]


@every_model
def test_32_rows_are_learnt_by_heart(architecture):
    assert learns_by_heart(architecture)


@every_model
@pytest.mark.parametrize("kind", ["dropout", "embedding_dropout"])
def test_dropout_is_only_active_in_training(architecture, kind):
    if kind not in tiny(architecture):
        return
    model = make(architecture, **{kind: 0.5})
    batch = batch_of(model, ((9, 8), (7, 6)))
    assert torch.equal(model(batch).logits, model(batch).logits)
    model.train()
    assert not close(model(batch).logits, model(batch).logits)


READ_FEATURES = [(a, s) for a, several in CHOICES.items() for s in several if s.get("extra", "none") != "none"]


@pytest.mark.parametrize(("architecture", "settings"), READ_FEATURES, ids=str)
def test_linguistic_features_are_standardised_and_neither_dropped_nor_missing(architecture, settings):
    model = make(architecture, **settings)
    batch = batch_of(model, ((4, 3),))
    logits, features, _ = model(batch)
    size = batch.extra.shape[1]
    assert torch.equal(features[:, -size:], batch.extra)
    assert not close(model(dataclasses.replace(batch, extra=batch.extra + 1)).logits, logits)
    model.standardise(torch.cat([4 * torch.ones(1, size) - 2, 4 * torch.ones(1, size) + 2]))
    scale = torch.tensor([2.0, 6.0]).std()
    again = model(dataclasses.replace(batch, extra=scale * batch.extra + 4))
    assert close(again.logits, logits, 1e-6)
    assert {"extra_mean", "extra_scale"} <= set(model.state_dict())
    for wrong in (None, torch.zeros(1, size + 1)):
        got = "none" if wrong is None else rf"\[1, {size + 1}\]"
        with pytest.raises(ValueError, match=rf"\[1, {size}\].*got {got}"):
            model(dataclasses.replace(batch, extra=wrong))


@every_model
def test_a_model_without_linguistic_features_reads_none(architecture):
    model = make(architecture)
    batch = batch_of(model, ((4, 3),))
    given = dataclasses.replace(batch, extra=torch.full((1, 4), torch.nan))
    assert torch.equal(model(given).logits, model(batch).logits)


@pytest.mark.cuda
@pytest.mark.skipif(not torch.cuda.is_available(), reason="no GPU")
@pytest.mark.parametrize("architecture", REGISTRY)
def test_cuda_equals_cpu(architecture):
    for settings in ({}, *CHOICES.get(architecture, ())):
        model = make(architecture, **settings)
        batch = batch_of(model, LENGTHS)
        cpu = model(batch).logits
        assert close(model.cuda()(batch.to("cuda")).logits.cpu(), cpu), settings
