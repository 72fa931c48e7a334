"""The tables and terminal lines of records made up here, number by number. No two words and no two numbers are equal:
a place shifted by one, exchanged sides or columns, another order and a lost column all show."""

import re
from dataclasses import replace

import pytest
import torch

from core.evidence import (
    AttentionMap,
    AttentiveContext,
    ContextWord,
    Explanation,
    FilterProducts,
    FilterProvenance,
    FilterRecord,
    PhraseChoice,
    PhraseRecord,
    PhraseSelection,
    PhraseSide,
    PooledAttention,
    Sentence,
    TokenRecord,
)
from core.evidence.attention_heads import AttentionHeads, Between
from core.evidence.edges import edge_words
from core.evidence.effects import Effects, LinkEffects, WordEffect, links_csv
from core.evidence.faithfulness import RANDOM, Faithfulness
from core.evidence.faithfulness_numbers import Adversary, Curves, Moved, ShownMap
from core.evidence.layer_routes import LayerRoutes
from core.evidence.layer_routes import sentence_of as where_it_lies
from core.evidence.routes import Routes, RouteShare
from core.evidence.similarity_shares import SimilarityShares

LABELS = ("entailment", "neutral", "contradiction")
EDGES = {"rows": "hypothesis", "columns": "premise"}


def explained(*records):
    """Neutral, on "ada sang loudly" and "bo wept", of which wept is unknown."""
    first, second = (
        Sentence(role, text, tuple(TokenRecord(word, 0, 0, word in ("wept", "loudly")) for word in text.split()))
        for role, text in (("premise", "ada sang loudly"), ("hypothesis", "bo wept"))
    )
    numbers = (0.1, 0.9, -1.0), (0.27, 0.64, 0.09)
    return Explanation("m", "M", first, (second,), "hypothesis", LABELS, *numbers, records)


def table(record):
    return record.to_csv(explained(record)).splitlines()


def lines(record, *others):
    return record.to_text(explained(record, *others))


def test_a_map_lists_the_strongest_words_and_numbers_every_cell_from_one():
    own = AttentionMap(
        "attention",
        **EDGES,
        scores=((3.0, 1.0, 2.0), (5.0, 6.0, 4.0)),
        weights=((0.1, 0.2, 0.4), (0.05, 0.6, 0.15)),
        null=(0.3, 0.2),
        null_score=7.0,
        crossings=(0.25, 0.75),
        crossed_by=((0.51, 0.9), (0.4, 0.6)),
    )
    assert table(own) == [
        "hypothesis_position,hypothesis_word,premise_position,premise_word,score,weight",
        "1,bo,1,ada,3.0,0.1",
        "1,bo,2,sang,1.0,0.2",
        "1,bo,3,loudly,2.0,0.4",
        "1,bo,,(no word),,0.3",
        "2,wept,1,ada,5.0,0.05",
        "2,wept,2,sang,6.0,0.6",
        "2,wept,3,loudly,4.0,0.15",
        "2,wept,,(no word),,0.2",
    ]
    assert lines(own) == [
        "",
        "Where each word of the hypothesis looks in the premise:",
        "                bo  loudly 40%, (no word) 30%, sang 20%, ada 10%",
        "              wept  sang 60%, (no word) 20%, loudly 15%, ada 5%",
        "",
        "Words of the hypothesis that others look across, q as the model used it, and by which:",
        "                bo  q 0.25: wept, bo",
        "              wept  q 0.75: wept",
    ]
    drawn = re.findall(r"<t[hd][^>]*>([^<]+)<", own.to_html(explained(own)))
    assert drawn == ["ada", "sang", "loudly", "(no word)", "bo", "10", "20", "40", "30", "wept", "5", "60", "15", "20"]
    transformer = AttentionMap(
        "attention", **EDGES, scores=(), weights=((0.1,), (0.2,)), null=(0.3, 0.5), own=(0.5, 0.1)
    )
    assert transformer.stays == (
        "On average a word of the hypothesis gives 30\u00a0% to its own sentence, 40\u00a0% to special tokens, and "
        "30\u00a0% to the premise."
    )


def test_pooling_and_similarities_belong_to_the_words_next_to_their_numbers():
    pooled = PooledAttention("pooling", "premise", (0.2, 0.9, 0.4))
    assert table(pooled) == ["premise_position,premise_word,weight", "1,ada,0.2", "2,sang,0.9", "3,loudly,0.4"]
    assert lines(pooled) == ["", "What pooling takes of the premise: sang 60%, loudly 27%, ada 13%"]
    shares = ((0.05, -0.4, 0.1, 0.01), (0.2, 0.02, 0.03, 0.04), (0.06, 0.07, 0.08, 0.09))
    similar = SimilarityShares("shares", **EDGES, shares=shares, score=0.7, reference=0.25, passes=9)
    assert table(similar)[:5] == [
        "hypothesis_word,premise_word,share", "bo,ada,0.05", "bo,sang,-0.4", "bo,loudly,0.1", "bo,special tokens,0.01",
    ]  # fmt: skip
    assert lines(similar)[1:4] == [
        "shares: they add up to 0.350 of the similarity 0.700, reference terms +0.250, residual +0.100",
        "  -0.400  bo · sang",
        "  +0.200  wept · ada",
    ]


def test_a_context_names_the_heaviest_unknown_word():
    weights = ((0.6, 0.1, 0.3), (0.2, 0.5, 0.3))
    near = AttentiveContext(
        "context", **EDGES, weights=weights, nearest=(ContextWord((), ()), ContextWord(("x",), (0.5,)))
    )
    assert near.unknown(explained(near), 0) == "loudly"  # although the first word weighs more
    assert lines(near)[1].startswith("The attentive context of “bo” is mostly “loudly”")
    assert lines(near)[3] == "Nearest words to the attentive context of “wept” (cosine): x 0.50"


def filters(role, shares, first=0.1):
    """Two filters over one text; the one with the larger share in the verdict comes last."""
    return FilterProvenance(
        f"{role} filters",
        role,
        3,
        (
            FilterRecord(0, 0, (0, 2), 0.0, 0.3, 0.2, 0.05, first, 0.65, 0.57, shares[0], (0.0, 0.3, 0.2), 1),
            FilterRecord(1, 1, (0, 3), 0.4, 0.5, -0.1, 0.06, 0.02, 0.88, 0.7, shares[1], (0.4, 0.5, -0.1), 0),
        ),
        (0.01, 0.02, 0.03),
        contexts=2,
    )


def test_filters_are_ranked_by_their_share_in_the_verdict_and_all_terms_of_the_logits_are_listed():
    own = filters("premise", ((0.9, 0.11, 0.12), (0.13, 0.4, 0.14)))
    other = filters("hypothesis", ((1.0, 2.0, 3.0), (0.5, 0.25, 0.125)))
    products = FilterProducts("products", ((0.1, 0.2, 0.3), (0.4, 0.5, 0.6)), (0.0, 0.0, 0.0))
    explanation = explained(own, other, products)
    assert own.to_csv(explanation).splitlines() == [
        "text,filter,position,ngram,left,self,right,context,bias,preactivation,activation,share_entailment,"
        "share_neutral,share_contradiction,context",
        "premise,0,1,ada sang,0.0,0.3,0.2,0.05,0.1,0.65,0.57,0.9,0.11,0.12,2",
        "premise,1,2,ada sang loudly,0.4,0.5,-0.1,0.06,0.02,0.88,0.7,0.13,0.4,0.14,1",
        ",all filters over the hypothesis,,,,,,,,,,1.5,2.25,3.125",
        ",products of both texts’ filters,,,,,,,,,,0.5,0.7,0.8999999999999999",
        ",the classifier’s bias,,,,,,,,,,0.01,0.02,0.03",
    ]
    assert own.to_text(explanation) == [
        "",
        "Filters over the premise that push most towards neutral (left + self + right + context + bias):",
        "  won with context 1: 1, context 2: 1",
        "     1  +0.400  +0.40 +0.50 -0.10 +0.06 +0.02 -> tanh = +0.700   ada sang loudly   with context 1",
        "     0  +0.110  +0.00 +0.30 +0.20 +0.05 +0.10 -> tanh = +0.570   ada sang   with context 2",
    ]
    assert products.to_text(explanation)[1] == (
        "Other than the filters, towards neutral: products of both texts’ filters +0.700"
    )
    windows = edge_words("premise", "hypothesis", "windows", False, (2, 1), explained(replace(own, width=2)))
    assert windows == (("ada sang", "sang loudly"), ("bo wept",))


def test_phrases_are_quoted_with_their_partner_and_the_pooling_that_keeps_them():
    spans = [(0, 1), (1, 2), (0, 2)]
    first = PhraseSide(
        "premise",
        tuple(PhraseRecord(span, *of) for span, of in zip(spans, ((1, 0.1), (2, 0.2), (0, 0.3)), strict=True)),
    )
    second = PhraseSide(
        "hypothesis", (PhraseRecord((0, 1), 2, 0.4), PhraseRecord((1, 2), 0, 0.5), PhraseRecord((0, 2), 1, 0.6))
    )
    choices = (
        PhraseChoice("kmin", 1, ((0,), (1,)), (0.2, 0.5, 0.3), True),
        PhraseChoice("kmax", 1, ((2,), (0,)), (0.3, 0.6, 0.1), False),
    )
    record = PhraseSelection("phrases", (first, second), choices, "kmin", 1)
    assert table(record) == [
        "side,phrase,first_word,last_word,score,partner,kept_by_kmin_1,kept_by_kmax_1",
        "premise,ada,1,1,0.1,wept,1,0",
        "premise,sang,2,2,0.2,bo wept,0,0",
        "premise,ada sang,1,2,0.3,bo,0,1",
        "hypothesis,bo,1,1,0.4,ada sang,0,1",
        "hypothesis,wept,2,2,0.5,ada,1,0",
        "hypothesis,bo wept,1,2,0.6,sang,0,0",
    ]
    assert lines(record) == [
        "",
        "kmin with k = 1, as trained: entailment 20\u00a0%  neutral 50\u00a0%  contradiction 30\u00a0%",
        "       premise  ada 0.10",
        "    hypothesis  wept 0.50",
        "",
        "kmax with k = 1: entailment 30\u00a0%  neutral 60\u00a0%  contradiction 10\u00a0%",
        "       premise  ada sang 0.30",
        "    hypothesis  bo 0.40",
    ]
    assert edge_words("premise", "hypothesis", "phrases", True, (3, 4), explained(record)) == (
        ("ada", "sang", "ada sang"),
        ("bo", "wept", "bo wept", "(no word)"),
    )


def test_effects_number_words_and_links_from_one():
    by_way = {"dropped": 0.35, "frequent": 0.15}
    words = (
        WordEffect("premise", 2, "loudly", 0.25, 0.04, 0.31, (0.2, 0.5, 0.3), by_way),
        WordEffect("hypothesis", 0, "bo", None),
    )
    effects = Effects("m", "M", "neutral", 0.64, "taken-away", "log p", LABELS, words)
    assert table(effects) == [
        "sentence,position,word,effect,spread,log_odds,p_entailment,p_neutral,p_contradiction,effect_dropped,"
        "effect_frequent",
        "premise,3,loudly,0.25,0.04,0.31,0.2,0.5,0.3,0.35,0.15",
        "hypothesis,1,bo,,,,,,,,",
    ]
    assert lines(effects)[1:4] == ["", "What each word of the premise does:", "   +0.25 ±0.04  loudly"]
    assert lines(effects)[5] == "What each word of the hypothesis does:"
    links = LinkEffects("hypothesis", "premise", "words", False, True, None, ((0.1, 0.2),), ((0.3, None),), 0.5)
    assert links_csv([links], [(("bo",), ("ada", "sang"))]).splitlines() == [
        "rows,columns,row,row_word,column,column_word,before,effect",
        "hypothesis,premise,1,bo,1,ada,0.1,0.3",
        "hypothesis,premise,1,bo,2,sang,0.2,",
    ]


VERSIONS = {
    "model": "m", "model_title": "M", "verdict": "neutral", "versions": (("a", "b"), ("a", "c")),
    "probabilities": (0.6, 0.2), "unit": "log-odds", "change": "Neutral 60 %, 20 %", "difference": 2.0,
}  # fmt: skip


def test_routes_and_layers_tell_their_numbers_under_the_right_names():
    shares = (RouteShare("attention", "attention", 1.5, 1.2, 1.7), RouteShare("words", "words", 0.5, 0.3, 0.8))
    routes = Routes(**VERSIONS, routes=shares, sentence="So.", passes=6)
    assert table(routes) == [
        "route,share_of_difference,share,alone,last", "attention,0.75,1.5,1.2,1.7", "words,0.25,0.5,0.3,0.8",
    ]  # fmt: skip
    assert "attention    75\u00a0%      +1.50   +1.20   +1.70" in [*routes.to_text()]
    layers = LayerRoutes(
        **VERSIONS,
        words=(("ada", "sang", "special tokens"), ("bo", "sang", "special tokens")),
        layers=2,
        states=((0.9, 0.1, 0.0), (0.2, 0.3, 0.6)),
        patterns=((0.4, -0.7), (0.05, 0.15)),
        values=((0.25, 0.35), (0.8, 0.45)),
        sentence="So.",
        passes=20,
    )
    assert table(layers)[:7] == [
        "part,layer,number,name,share", "state,1,1,ada,0.9", "state,1,2,sang,0.1", "state,1,3,special tokens,0.0",
        "state,2,1,ada,0.2", "state,2,2,sang,0.3", "state,2,3,special tokens,0.6",
    ]  # fmt: skip
    assert table(layers)[7:] == [
        "pattern,1,1,1,0.4", "pattern,1,2,2,-0.7", "pattern,2,1,1,0.05", "pattern,2,2,2,0.15", "values,1,1,1,0.25",
        "values,1,2,2,0.35", "values,2,1,1,0.8", "values,2,2,2,0.45",
    ]  # fmt: skip
    told = layers.to_text()
    assert "pattern  1.2 −70\u00a0%, 1.1 40\u00a0%, 2.2 15\u00a0%, 2.1 5\u00a0%" in told
    assert told[4].split() == ["ada", "90", "%", "20", "%", "(bo)"] and "sang" in told[5] and "(" not in told[5]
    alone = where_it_lies("The change", ("ada", "sang"), ((0.9, 0.1), (0.3, 0.4), (0.2, 0.7)))
    assert alone == "The change is mainly in the states of “ada” up to layer 1 of 3, from layer 3 in “sang”."


def test_faithfulness_says_which_way_the_probability_moves_and_lists_the_best_method_first():
    steps = {"one": ((0.1, 0.2, 0.3, 0.4, 0.5), (0.0, 0.1, 0.2, 0.3, 0.4)), "two": ((0.0,) * 5, (0.6,) * 5)}
    curves = {name: Curves(*values) for name, values in steps.items()} | {RANDOM: Curves((0.7,) * 5, (0.05,) * 5)}
    shown = ShownMap("hypothesis", "premise", "words", False, ((0.9, 0.1),))
    record = Faithfulness(
        "m", LABELS, "neutral", (0.27, 0.64, 0.09), curves,
        Moved(100, 7, 0.31, (0.2, 0.3, 0.5), (0.35, 0.41, 0.24)), (0.33,), (2, 3), (shown,),
        Adversary((((0.15, 0.85),),), 0.44, 0.013, (0.26, 0.63, 0.11), 1.0), titles={"one": "One", "two": "Two"},
    )  # fmt: skip
    assert record.sentence == (
        "Moving this model’s attention changes its verdict in 7 of 100 permutations and brings its probability from "
        "64\u00a0% to 41\u00a0% on average; its attention names 2 of the 3 words with the largest effect."
    )
    assert [(line.title, round(line.left, 3), round(line.taken, 3)) for line in record.methods] == [
        ("Two", 0.0, 0.6), ("One", 0.3, 0.2),
    ]  # fmt: skip
    assert record.methods[1].steps[3] == "20 %: +0.40 with these alone, +0.30 without"
    cells = table(record)
    for line in (
        "sufficiency,one,2,0.2", "comprehensiveness,one,50 %,0.4", "probability,neutral,,0.64",
        "permutations that change the verdict,100,,7", "probability under uniform attention,contradiction,,0.5",
        "Kendall's tau-b of weight and effect,map 1,,0.33", "words of largest effect among the most attended,3,,2",
        "Jensen-Shannon divergence,adversary,nats,0.44", "probability under the adversary,entailment,,0.26",
        "weight,map 1,1.2,0.1", "weight of the adversary,map 1,1.2,0.85",
    ):  # fmt: skip
        assert line in cells, line
    said = {fact.name: fact.says for fact in record.facts}
    assert said["Uniform attention"] == "gives contradiction 50\u00a0%, another verdict."
    assert "neutral 63\u00a0% instead of 64\u00a0%" in said["An adversary"]
    assert (
        "7 of 100 permutations" in said["Permuted attention"] and "31 percentage points" in said["Permuted attention"]
    )


def test_heads_are_told_from_the_one_whose_words_of_the_second_text_look_most_at_the_first():
    to_first = torch.tensor([[[[0.25], [0.75]], [[0.5], [0.25]], [[1.0], [0.5]]]])
    to_second = torch.tensor([[[[0.5, 0.25]], [[0.0, 0.25]], [[0.25, 0.25]]]])
    special = torch.tensor([[[0.25], [0.25], [0.5]]]), torch.tensor([[[0.25, 0.25], [0.25, 0.25], [0.0, 0.25]]])
    own = tuple(1 - left.sum(-1) - other for left, other in zip((to_second, to_first), special, strict=True))
    seen = (Between(to_second, special[0], own[0]), Between(to_first, special[1], own[1]))
    heads = AttentionHeads.of("mean", ("premise", "hypothesis"), seen, measured="1.3", f1=0.784)
    assert heads.across == (((0.5, 0.375, 0.75),), ((0.75, 0.25, 0.5),))
    assert heads.special == (pytest.approx((0.25, 0.25, 0.25)),)
    for head in range(3):
        shares = 2 / 3 * heads.across[0][0][head] + heads.across[1][0][head] / 3
        assert shares + heads.special[0][head] + heads.own[0][head] == pytest.approx(1)
    _, looking, told, agreement = (line.replace("\u00a0", " ") for line in heads.to_text(None))
    assert looking == "Heads whose words of the hypothesis look most at the premise:"
    assert told == "  layer 1, head 3 75 %, layer 1, head 1 50 %, layer 1, head 2 38 %"
    assert agreement == "layer 1, head 3: F1 .78 against people"
