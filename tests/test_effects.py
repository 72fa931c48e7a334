"""Effects of words and links, checked against loops over single forward passes for every model."""

import json
import math
import threading
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import pytest
import torch

from core.__main__ import main
from core.checkpoint import PRETRAINED, load_named, read_card
from core.effects import METHODS, Question, asked_pair
from core.effects.gradients import INTEGRATED, STEP, can_nudge, nudged, word_effects
from core.effects.links import LinksError, Taken
from core.effects.methods import MEASURED
from core.effects.methods.method import word_values
from core.effects.methods.removal import FREQUENT, MIX, NUDGED, RELATED
from core.effects.words import DROPPED, Sampling, frequent_words, related_words
from core.errors import UserError
from core.evidence import AttentionMap
from core.explain import explain
from core.models import REGISTRY
from core.reading.word_table import WordTable, default_table
from tests.core.made_up import make_checkpoint, make_table
from tests.models import tiny

FIRST, SECOND = "Three small girls are playing", "Two girls sleep"
FEW = Sampling(frequent=2, related=2)
every_model = pytest.mark.parametrize("architecture", REGISTRY)


@pytest.fixture(scope="module")
def table():
    return make_table()


@pytest.fixture
def checkpoint_of(tmp_path, table):
    def make(architecture, judged="second", **settings):
        sizes = tiny(architecture, **settings) | {"input_size": table.width}
        return make_checkpoint(tmp_path, table, architecture, judged, **sizes)

    return make


def test_two_visitors_pairs_are_read_at_the_same_time(monkeypatch, checkpoint_of):
    both, real, checkpoint = threading.Barrier(2, timeout=10), asked_pair.explain, checkpoint_of("attconv-light")

    def waiting(*pair, **options):
        both.wait()
        return real(*pair, **options)

    monkeypatch.setattr(asked_pair, "explain", waiting)
    asked = [Question(checkpoint, FIRST, SECOND), Question(checkpoint, SECOND, FIRST)]
    with ThreadPoolExecutor(2) as threads:
        assert [found.first.text for found in threads.map(lambda one: one.explanation, asked)] == [FIRST, SECOND]


def log_p(checkpoint, first, second, label, **options):
    explanation = explain(checkpoint, first, second, records=(), **options)
    return math.log(explanation.probabilities[checkpoint.labels.index(label)])


def log_odds(log_p):
    return log_p - math.log(-math.expm1(log_p))


def nudged_by_hand(checkpoint, texts, word, label):
    """log p of the verdict after one step of one word's vector, by single forward calls."""
    reading = checkpoint.read(*texts)
    batch = checkpoint.reader.batch(reading)
    sides = [batch.first, *batch.contexts]
    vectors = [side.words.clone().requires_grad_() for side in sides]
    moved = 0 if word.role == reading.first.role else 1

    def answer(given):
        rows = [replace(side, words=values) for side, values in zip(sides, given, strict=True)]
        logits = checkpoint.model(replace(batch, first=rows[0], contexts=tuple(rows[1:]))).logits
        return torch.log_softmax(logits.double(), dim=1)[0, checkpoint.labels.index(label)]

    gradients = torch.autograd.grad(answer(vectors), vectors, allow_unused=True)
    own, slope = vectors[moved].detach().clone(), gradients[moved]
    if slope is not None and slope[0, word.index].norm() > 1e-12:  # below it is rounding, and has no direction
        length = STEP * own[0].norm(dim=1).mean()
        own[0, word.index] -= length * slope[0, word.index] / slope[0, word.index].norm()
    given = [own if number == moved else values.detach() for number, values in enumerate(vectors)]
    return float(answer(given).detach())


@every_model
def test_effects_of_words_equal_a_loop_over_single_pairs(architecture, checkpoint_of):
    checkpoint = checkpoint_of(architecture)
    (often,) = frequent_words(checkpoint.words, 1, 0)  # which never stands in for itself
    texts = [f"{FIRST} {often}", "" if checkpoint.single else SECOND]
    effects = Question(checkpoint, *texts, sampling=FEW).words()
    before = log_p(checkpoint, *texts, effects.verdict)
    target = effects.labels.index(effects.verdict)
    assert effects.probability == pytest.approx(math.exp(before), rel=1e-6)
    assert [word.text for word in effects.words] == " ".join(texts).split()
    for word in effects.words:
        side = 0 if word.role == checkpoint.roles["first"] else 1
        norm = word.text.lower()
        drawn = {
            FREQUENT: [w for w in frequent_words(checkpoint.words, 3, 0) if w != norm][:2],
            RELATED: related_words(checkpoint.words, [norm], 2, 0).get(norm, ()),
            DROPPED: [""],
        }
        logs, all_drawn = {}, []
        for way, words in drawn.items():
            after = []
            for other in words:
                changed = [text.split() for text in texts]
                changed[side][word.index] = other
                after.append(log_p(checkpoint, *map(" ".join, changed), effects.verdict))
            if after:
                logs[way] = after
            all_drawn += after if way != DROPPED else []
        if can_nudge(checkpoint):
            logs[NUDGED] = [nudged_by_hand(checkpoint, texts, word, effects.verdict)]

        def mixed(value, logs=logs):
            weight = sum(MIX[way] for way in logs)
            return sum(MIX[way] * sum(map(value, after)) / len(after) for way, after in logs.items()) / weight

        assert word.effect == pytest.approx(before - mixed(float), abs=5e-6)
        assert word.log_odds == pytest.approx(log_odds(before) - mixed(log_odds), abs=2e-5)
        assert word.probabilities[target] == pytest.approx(mixed(math.exp), abs=5e-6)
        assert word.by_way == pytest.approx(
            {way: before - sum(after) / len(after) for way, after in logs.items()}, abs=5e-6
        )
        assert word.spread == pytest.approx(float(torch.tensor(all_drawn).std(correction=0)), abs=5e-6)
        assert sum(word.probabilities) == pytest.approx(1)


def softmaxes(explanation, record, row, columns):
    """The columns of each softmax of a row, from the words: each line of the text apart, or a window of it."""
    if record is not None and record.reach:
        return [range(*record.reach[row])]
    lines = [0] * columns
    if record is not None and record.apart:
        tokens = explanation.sentence(record.columns).tokens
        lines = [explanation.second.text.count("\n", 0, token.start) for token in tokens]
    return [[j for j in range(columns) if lines[j] == line] for line in sorted({*lines})]


@pytest.mark.parametrize(
    ("architecture", "settings"),
    [
        *((architecture, {}) for architecture in REGISTRY),
        ("attconv-light", {"context": "each"}),
        ("chained-rnn", {"attention": "local", "half_width": 1}),
    ],
)
@pytest.mark.parametrize("taken", Taken)
def test_effects_of_links_equal_a_loop_over_single_overrides(architecture, settings, taken, checkpoint_of):
    apart = settings.get("context") == "each"
    checkpoint = checkpoint_of(architecture, "first" if apart else "second", **settings)
    texts = (FIRST, "" if checkpoint.single else "Two girls\nsleep on a toy" if apart else SECOND)
    reading = checkpoint.read(*texts)
    maps = checkpoint.model.links(reading, checkpoint.model(checkpoint.reader.batch(reading)))
    if not maps:
        with pytest.raises(LinksError, match="has no attention"):
            Question(checkpoint, *texts).links(taken)
        return
    effects = Question(checkpoint, *texts).words(DROPPED).with_links(Question(checkpoint, *texts).links(taken))
    before = log_p(checkpoint, *texts, effects.verdict)
    assert len(effects.links) == len(maps)
    explanation = explain(checkpoint, *texts)
    records = [r for r in explanation.evidence if isinstance(r, AttentionMap)]
    for number, (links, own) in enumerate(zip(effects.links, maps, strict=True)):
        record = records[number] if records else None
        if record is not None:
            assert torch.allclose(own.values, torch.tensor(record.override or record.scores), atol=1e-6)
        columns = own.values.shape[-1]
        for cell in range(0, own.values.numel(), 3):
            cut = own.values.clone().flatten()
            cut[cell] = 0.0 if own.least is None else own.least
            cut = cut.view(-1, columns)
            if own.least is None and taken is Taken.RENORMALISED:
                row, before_cut = cut[cell // columns], own.values.view(-1, columns)[cell // columns]
                for block in softmaxes(explanation, record, cell // columns, columns):
                    if sum(row[j] for j in block) > 0:
                        row[block] *= before_cut[block].sum() / row[block].sum()
            override = cut.view(own.values.shape)
            if len(maps) > 1:
                override = tuple(override if i == number else None for i in range(len(maps)))
            expected = before - log_p(checkpoint, *texts, effects.verdict, override=override)
            assert links.effects[cell // columns][cell % columns] == pytest.approx(expected, abs=5e-6)


@every_model
def test_gradients_add_up_and_are_those_of_small_steps(architecture, checkpoint_of):
    checkpoint = checkpoint_of(architecture)
    texts = (FIRST, "" if checkpoint.single else SECOND)
    words = len(" ".join(texts).split())
    norms = Question(checkpoint, *texts).words("gradient-norm").words
    assert len(norms) == words and all(0 <= word.effect < math.inf for word in norms)
    integrated = Question(checkpoint, *texts).words("integrated-gradients")
    assert sum(word.effect for word in integrated.words) == pytest.approx(integrated.completeness[0], abs=1e-4)


PAIRS = (
    ("A boy eats an apple", "A child eats fruit"),
    ("No one is at home", "The house is full"),
    ("A dog", "A dog"),
    ("Rain falls", "The sun shines brightly over the empty beach"),
    ("xyzzy plugh", "A qwxz runs"),
)
"""Short, or the test takes minutes; the last one has words without a vector."""


def shipped_kinds():
    """A shipped checkpoint of each architecture and task."""
    folders = sorted({path.parent for path in PRETRAINED.glob("*/*.safetensors")} - {PRETRAINED / "words"})
    cards = {folder.name: read_card(folder) for folder in folders}
    return {(card["architecture"], card["task"]): name for name, card in cards.items()}.values()


@pytest.mark.variant
@pytest.mark.parametrize("name", shipped_kinds())
def test_integrated_gradients_of_shipped_models_add_up(name):
    checkpoint = load_named(name)
    assert checkpoint.model.differentiable
    for first, second in PAIRS[: 1 if "guest" in checkpoint.card else None]:  # a transformer takes a second for each
        effects = Question(checkpoint, first, "" if checkpoint.single else second).words("integrated-gradients")
        added, difference = effects.completeness
        assert added == pytest.approx(sum(word.effect for word in effects.words), abs=1e-4)
        assert abs(added - difference) <= max(0.05 * abs(difference), 0.05), (first, second)


def test_integrated_gradients_keep_the_choices_of_the_pair(checkpoint_of):
    """The log p that is integrated is the model's own at the pair, whatever it chooses on the way there."""
    for architecture in ("phrases", "chained-rnn", "adaqa"):
        checkpoint = checkpoint_of(architecture)
        batch = checkpoint.reader.batch(checkpoint.read(FIRST, SECOND))
        own = checkpoint.model(batch)
        held = checkpoint.model.choices(own)
        assert torch.equal(checkpoint.model(batch, **held).logits, own.logits)


def test_effects_that_do_not_add_up_are_marked():
    effects = Question(load_named("lesson-light"), FIRST, SECOND).words("integrated-gradients")
    assert "off by" not in "\n".join(effects.to_text())
    assert "off by 0.50" in "\n".join(replace(effects, completeness=(1.5, 2.0)).to_text())


def test_the_number_decides_that_three_girls_are_not_two():
    pair = "Three girls are playing in the park", "Two girls are playing in the park"
    effects = Question(load_named("nli-two-sided"), *pair).words()
    assert effects.verdict == "contradiction"
    assert effects.strongest.text == "Two"
    assert {word.text for word in sorted(effects.words, key=lambda word: -word.effect)[:2]} == {"Two", "Three"}


def test_the_only_word_of_a_side_is_replaced_and_cannot_be_dropped():
    checkpoint = load_named("nli-two-sided")
    only = Question(checkpoint, "A man sleeps", "Sleeping").words().words[-1]
    assert set(only.by_way) == {FREQUENT, RELATED, NUDGED}
    weighed = sum(MIX[way] * effect for way, effect in only.by_way.items())
    assert only.effect == pytest.approx(weighed / (1 - MIX[DROPPED]))
    assert Question(checkpoint, "A man sleeps", "Sleeping").words(DROPPED).words[-1].effect is None


def test_replacements_are_drawn_reproducibly_and_are_never_the_word_itself():
    table = default_table()
    assert frequent_words(table, 16, 0) == frequent_words(table, 16, 0) != frequent_words(table, 16, 1)
    assert all(word.isalpha() and 60 <= table.rank(word) <= 1600 for word in frequent_words(table, 128, 0))
    assert "xqzzt" not in related_words(table, ["dog", "xqzzt"], 16, 0)
    words = [chr(97 + n // 26) + chr(97 + n % 26) for n in range(330)]
    for seed in range(2):  # the same words with other vectors have other neighbours
        torch.manual_seed(seed)
        vectors = torch.nn.functional.normalize(torch.randn(len(words), 8))
        made = WordTable.from_vectors(words, vectors, 1.0, "made-up")
        cosines = torch.cosine_similarity(made.vectors(words), made.vectors(["ab"])).tolist()
        near = sorted((word for word in words if word != "ab"), key=lambda word: -cosines[words.index(word)])
        assert {*related_words(made, ["ab"], 500, 0)["ab"]} == {*near[20:300]}


def test_a_nudge_costs_what_it_can_and_a_smaller_one_less():
    checkpoint = load_named("nli-two-sided")
    texts = "Three girls are playing in the park", "Two girls are playing in the park"
    effects = Question(checkpoint, *texts).words()
    by_nudging = [word.by_way[NUDGED] for word in effects.words]
    assert min(by_nudging) > -0.01 and effects.words[by_nudging.index(max(by_nudging))].text == "Two"
    reading, target = checkpoint.read(*texts), checkpoint.labels.index("contradiction")
    before = math.log(effects.probability)
    alone, other = nudged(checkpoint, reading, target, [0, 7])[:, target]
    assert other < before
    (nearer,) = nudged(checkpoint, reading, target, [0], STEP / 10)[:, target]
    assert alone < nearer < before


def test_long_texts_are_nudged_and_integrated_few_at_a_time(checkpoint_of, monkeypatch):
    checkpoint, sizes, most = checkpoint_of("two-sided"), list[int](), 24
    reading = checkpoint.read(" ".join([FIRST] * 3), SECOND)
    found = [nudged(checkpoint, reading, 0, range(18)), integrated(checkpoint, reading)]
    monkeypatch.setattr("core.effects.gradients.AT_ONCE", most)
    checkpoint.model.register_forward_pre_hook(
        lambda model, given: sizes.append(given[0].first.words.shape[:2].numel())
    )
    again = [nudged(checkpoint, reading, 0, range(18)), integrated(checkpoint, reading)]
    assert max(sizes) <= most and len(sizes) > 60
    for one, other in zip(found, again, strict=True):
        torch.testing.assert_close(one, other, rtol=1e-5, atol=1e-6)


def integrated(checkpoint, reading):
    return torch.tensor([word.effect for word in word_effects(checkpoint, reading, 0, INTEGRATED).words])


def test_the_command_prints_the_notebooks_numbers(capsys):
    arguments = ["why", "nli-two-sided", "--first", "Three girls play", "--second", "Two girls play"]
    assert main([*arguments, "--json", "--links"]) == 0
    answer = json.loads(capsys.readouterr().out)
    assert {"model", "verdict", "probability", "method", "words", "links"} <= answer.keys()
    assert [(word["role"], word["index"], word["text"]) for word in answer["words"][:4]] == [
        ("premise", 0, "Three"), ("premise", 1, "girls"), ("premise", 2, "play"), ("hypothesis", 0, "Two"),
    ]  # fmt: skip
    assert all({"effect", "spread"} <= word.keys() for word in answer["words"])
    assert len(answer["links"]) == 2
    assert main(arguments) == 0
    assert "What each word of the hypothesis does" in capsys.readouterr().out
    assert main([*arguments, "--method", "droped"]) == 2
    assert "did you mean 'dropped'" in capsys.readouterr().err


def test_an_unknown_method_is_one_sentence():
    with pytest.raises(UserError, match="unknown method"):
        Question(load_named("nli-two-sided"), FIRST, SECOND).words("guessing")
    assert [*METHODS][:6] == [
        "taken-away", "dropped", "replaced", "gradient-norm", "integrated-gradients", "attention",
    ]  # fmt: skip


def test_replaced_is_the_mean_of_frequent_and_related_words():
    effects = Question(load_named("nli-two-sided"), "A man sleeps", "Xqzzt sleeps").words("replaced")
    *_, unknown, known = effects.words
    assert set(unknown.by_way) == {FREQUENT} and unknown.effect == pytest.approx(unknown.by_way[FREQUENT])
    assert known.effect == pytest.approx((known.by_way[FREQUENT] + known.by_way[RELATED]) / 2)
    assert (known.passes, effects.unit) == (16, "log p")


def test_received_attention_is_not_an_effect():
    texts = "Three girls play", "Two girls play"
    effects = Question(load_named("nli-attconv-light"), *texts).words("attention")
    (record,) = (
        one for one in explain(load_named("nli-attconv-light"), *texts).evidence if isinstance(one, AttentionMap)
    )
    assert [word.effect for word in effects.of("premise")] == pytest.approx(
        torch.tensor(record.weights).sum(0).tolist()
    )
    assert {word.effect for word in effects.of("hypothesis")} == {None} and effects.unit == "attention"
    asked = Question(load_named("nli-attconv-light"), *texts)
    values, _ = word_values(asked, [MEASURED[f"{which}-attended"] for which in ("most", "least")])
    most = [word.effect for word in effects.of("premise")]
    assert values["most-attended"][:3] == most and values["least-attended"][:3] == [-weight for weight in most]
    with pytest.raises(UserError, match="shows no attention to words"):
        Question(load_named("snli-phrases-kmin"), *texts).words("attention")
