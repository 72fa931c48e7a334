"""Features worked out by hand, and what must hold for every text."""

import itertools
import math
from concurrent.futures import ThreadPoolExecutor

import pytest
import torch
from sklearn.feature_extraction.text import ENGLISH_STOP_WORDS

from core.linguistics import wordnet
from core.linguistics.answer_types import CUES
from core.linguistics.content_words import stop_words
from core.linguistics.features import FEATURES, LinguisticsError, extra_features, relations, word_count
from core.linguistics.translation import LONGEST, SCORES, scores
from core.reading.tokens import MAX_TOKENS, tokenize
from core.reading.word_table import WordTable

ERRORS = ("TER", "WER")
NASTY = [
    "", " ", ".", "?!", "🙂", "👨‍👩‍👧 🇩🇪", "a", "No", "dog", "dog dog dog dog", "´ ¨", "ﷺ", "'s", "n't", "_ __", "1 2",
    "naïve", "一 هذا कتاب", "<b>&amp;</b>", "\x00\ud800x", "run " * MAX_TOKENS, "A man, a plan, a canal: Panama!",
]  # fmt: skip


@pytest.fixture(scope="module")
def frequent():
    """A table of 99 words in order of frequency: the, w1, …, capital, …"""
    words = ["the", *(f"w{i}" for i in range(1, 98)), "capital"]
    return WordTable.from_vectors(words, torch.ones(99, 2), 1.0, "made up")


def named(kind, first, second, words):
    return dict(zip(FEATURES[kind], extra_features(kind, tokenize(first), tokenize(second), words), strict=True))


def score(reference, candidate):
    return dict(zip(SCORES, scores(reference.split(), candidate.split()), strict=True))


@pytest.mark.slow
def test_names_and_values_go_together(frequent):
    assert [len(FEATURES[kind]) for kind in FEATURES] == [22, 4, 53]
    assert FEATURES["entailment"][:15] == SCORES
    for kind in FEATURES:
        assert len(named(kind, "a dog runs", "a cat sleeps", frequent)) == len(FEATURES[kind])


@pytest.mark.slow
def test_each_score_by_hand():
    # Shared: the, cat, on, mat; the candidate lacks the second "the" and has "a" and "sat" for "is".
    value = score("the cat is on the mat", "the cat sat on a mat")
    assert value["BLEU-1"] == pytest.approx(4 / 6)
    # Of five bigrams one matches; counts beyond one word plus one: 2/6, 1/5 of four trigrams, 1/4 of three 4-grams.
    assert value["BLEU-2"] == pytest.approx((4 / 6 * 2 / 6) ** (1 / 2))
    assert value["BLEU-3"] == pytest.approx((4 / 6 * 2 / 6 * 1 / 5) ** (1 / 3))
    assert value["BLEU-4"] == pytest.approx((4 / 6 * 2 / 6 * 1 / 5 * 1 / 4) ** (1 / 4))
    assert value["ROUGE-1"] == pytest.approx(4 / 6)
    assert value["ROUGE-2"] == pytest.approx(1 / 5)
    assert value["ROUGE-L"] == pytest.approx(2 * 4 / 12)
    assert [value["WER"], value["TER"]] == pytest.approx([2 / 6, 2 / 6])
    assert value["token F1"] == pytest.approx(2 * 4 / 12)
    # 4 + 1 n-grams of orders 1 to 4 shared, of 6 + 5 + 4 + 3.
    assert value["GLEU"] == pytest.approx(5 / 18)
    # nltk gives "the" to the reference's second one, so the four matches are four chunks: half of 4/6.
    assert value["METEOR"] == pytest.approx((1 - 0.5) * 4 / 6)
    # the, cat, on and mat stand in order; "the" is found by its neighbour cat.
    assert value["RIBES"] == pytest.approx((4 / 6) ** 0.25)


def test_a_short_candidate_pays_in_bleu():
    assert score("the cat is on the mat", "the cat")["BLEU-1"] == pytest.approx(math.exp(1 - 6 / 2))


def test_ter_moves_a_phrase_for_one_edit_and_wer_does_not():
    value = score("yesterday we saw a film", "we saw a film yesterday")
    assert (value["TER"], value["WER"]) == (pytest.approx(1 / 5), pytest.approx(2 / 5))
    assert value["token F1"] == value["BLEU-1"] == 1 and value["ROUGE-L"] == pytest.approx(4 / 5)
    # Ranks 1 2 3 4 0: six of ten pairs ascend.
    assert value["RIBES"] == pytest.approx(6 / 10)


def test_nist_over_that_of_the_reference():
    # Each word tells log2 4 = 2 bits, a bigram whose first word is known none: best (2+2+2+2)/4 = 2. Two of four words
    # match with equal lengths: 1 of 2.
    assert score("a b c d", "a b x y")["NIST"] == pytest.approx(0.5)
    assert score("no", "no")["NIST"] == 1 and score("no no", "no")["NIST"] == 0


def test_chrf_by_hand():
    # One to six characters of "abc" and "abd": 2/3, 1/2, 0 of three orders, precision as recall: their mean.
    assert score("abc", "abd")["chrF"] == pytest.approx((2 / 3 + 1 / 2 + 0) / 3)


def test_meteor_matches_stems_and_synonyms():
    exact, stem, synonym, other = (score("the car stops", f"the {w} stops") for w in ("car", "cars", "auto", "dog"))
    assert exact["METEOR"] == stem["METEOR"] == synonym["METEOR"] > other["METEOR"]
    assert exact["BLEU-1"] > stem["BLEU-1"] == synonym["BLEU-1"]


@pytest.mark.parametrize("text", ["dog", "dogs bark", "a big dog barks", "two young men play in the park near a river"])
def test_equal_sentences_have_the_best_value_of_each_score(text):
    value, length = score(text, text), len(text.split())
    best = {name: float(name not in ERRORS) for name in SCORES}
    best |= {"METEOR": 1 - 0.5 / length**3, "RIBES": float(length > 1)}
    assert value == pytest.approx(best)


def test_nothing_shared_has_the_worst_value_of_each_score():
    value = score("xx xx yy", "qq rr ss")
    assert value == {name: float(name in ERRORS) for name in SCORES}


def test_which_scores_know_the_reference_from_the_candidate():
    one, other = score("a dog runs in the park", "a dog runs"), score("a dog runs", "a dog runs in the park")
    for name in SCORES:
        assert (one[name] == pytest.approx(other[name])) == (name in ("ROUGE-L", "GLEU", "token F1")), name
    assert one["BLEU-1"] < 1 and one["ROUGE-1"] == 0.5 and other["ROUGE-1"] == 1
    assert one["WER"] == 0.5 and other["WER"] == 1


def test_long_texts_are_scored_by_their_beginning():
    words = [f"w{i}" for i in range(LONGEST)]
    assert scores([*words, "x"], [*words, "y", "z"]) == scores(words, words)


@pytest.mark.parametrize("text", ["nobody", "it's NOT", "I don’t", "they ca n't", "Neither", "without it", "cannot"])
def test_negation_is_seen_in_the_sentence_that_has_it(text, table):
    value = named("entailment", f"yes, {text}", "yes, knots", table)
    assert (value["negation in the premise"], value["negation in the hypothesis"]) == (1, 0)
    value = named("entailment", "yes, knots", f"yes, {text}", table)
    assert (value["negation in the premise"], value["negation in the hypothesis"]) == (0, 1)


@pytest.mark.parametrize(
    ("first", "second", "expected"),
    [
        ("the car", "an automobile", (1, 0, 0)),
        ("a dog", "animals", (0, 1, 0)),
        ("animals", "the dogs", (0, 1, 0)),
        ("a man", "people", (0, 0, 0)),
        ("a dog", "an object", (0, 0, 0)),
        ("hot", "cold", (0, 0, 1)),
        ("the women", "a man", (0, 0, 1)),
        ("it was opened", "it closes", (0, 0, 1)),
        ("full", "empty", (0, 0, 1)),
        ("a violin", "the cucumber", (0, 0, 0)),
        ("in a box", "an ampere of indium", (0, 0, 0)),
        ("zzyzx", "qwfp", (0, 0, 0)),
    ],
)
def test_relations_of_real_words(first, second, expected):
    assert tuple(relations(first.split(), second.split())) == expected
    assert tuple(relations(second.split(), first.split())) == expected


def test_words_that_both_sentences_have_are_no_relation():
    assert relations(["a", "dog", "runs"], ["dogs", "run"]) == [0, 0, 0]
    assert relations(["hot", "and", "cold"], ["cold"]) == [0, 0, 0]
    assert relations(["the", "car", "automobile"], ["a", "car"]) == [0, 0, 0]


def test_lengths_count_words_without_signs(table):
    value = named("entailment", "Well, yes!", "No 🙂 ...", table)
    assert value["log length of the premise"] == pytest.approx(math.log(3))
    assert value["log length of the hypothesis"] == pytest.approx(math.log(2))


def test_word_counts(frequent):
    question, answer = "what is the capital of the state of w3 ?", "the w3 Capital, capital is w1"
    value = named("answer", question, answer, frequent)
    assert value["log length of the question"] == pytest.approx(math.log(10))
    assert value["log length of the answer"] == pytest.approx(math.log(7))
    # "capital" (rank 99 of 99) and "w3" (rank 4); "is" and "the" are stop words, "state" is not in the answer.
    assert value["WordCnt"] == 2
    assert value["WgtWordCnt"] == pytest.approx(1 + math.log(5) / math.log(100))


def test_a_word_outside_the_table_weighs_as_much_as_its_rarest(frequent):
    assert word_count(["zzyzx"], ["zzyzx"], frequent) == word_count(["capital"], ["capital"], frequent) == [1, 1]
    assert word_count(["the", "is"], ["the", "is"], frequent) == [0, 0]


def test_a_questions_expected_answer_type(frequent):
    question, answer = "what year was the Capital of w5 founded", "W5 founding : one of Rome founds it in 1871 and 72"
    value = named("answer-type", question, answer, frequent)
    assert {name: value[name] for name in FEATURES["answer"]} == named("answer", question, answer, frequent)
    # Stems "w5" (rank 6 of 99) and "found" (outside the table); "year" and "capital" are not in the answer.
    weight = math.log(7) / math.log(100)
    assert (value["WordCnt"], value["shared stems"]) == (1, 2)
    assert value["weight of shared stems"] == pytest.approx(1 + weight)
    assert value["share of the question's weight"] == pytest.approx((1 + weight) / (3 + weight))
    assert (value["shared pairs of words"], value["shared pairs of stems"]) == (0, 1)  # "w5 found"
    assert value["place of the first shared word"] == 0
    # 1871 and 72; Rome: W5 is the question's. A "what year" is a "what" and a "when", and no "how many".
    for kind, asked in {"any": 1, "what": 1, "when": 1, "who": 0, "how many": 0}.items():
        assert [value[f"{cue} ({kind})"] for cue in CUES] == [2 * asked, asked, asked, 0, 0, 0]
    definition = named("answer-type", "who is Ann", 'Ann ("Annie") was a singer', frequent)
    for cue in CUES[-3:]:
        assert [definition[f"{cue} ({kind})"] for kind in ("any", "who", "how")] == [1, 1, 0]
    other = named("answer-type", "who is Ann", "It was said by Ann", frequent)
    assert [other[f"{cue} (who)"] for cue in CUES[-3:]] == [1, 0, 0]


def test_the_asked_noun_is_compared_with_the_answers_new_words(table):
    value = named("answer-type", "what kind of animal plays", "the animal is a dog in the snow", table)
    near = torch.nn.functional.cosine_similarity(table.vectors(["kind"]), table.vectors(["dog", "snow"]))
    assert value["nearest to what is asked for"] == pytest.approx(near.max().item(), abs=1e-6)
    assert named("answer-type", "who plays", "a dog", table)["nearest to what is asked for"] == 0


@pytest.mark.slow
def test_every_value_is_finite_and_every_score_within_0_and_1(frequent):
    for first, second in itertools.product(NASTY, NASTY):
        tokens = [tokenize(text)[:MAX_TOKENS] for text in (first, second)]
        for kind in FEATURES:
            values = extra_features(kind, *tokens, frequent)
            assert all(type(v) is float and math.isfinite(v) for v in values), (first, second)
            if kind == "entailment":
                assert all(0 <= v <= 1 + 1e-12 for v in values[:20]), (first, second)


def test_texts_of_only_punctuation_are_compared(table):
    same, other = named("entailment", "🙂", "🙂", table), named("entailment", "🙂", "🙁", table)
    assert (same["token F1"], same["WER"]) == (1, 0) and (other["token F1"], other["WER"]) == (0, 1)
    assert same["log length of the premise"] == 0


def test_an_unknown_kind_lists_the_known_ones(table):
    with pytest.raises(LinguisticsError, match="choose one of entailment, answer, answer-type"):
        extra_features("paraphrase", [], [], table)


def test_missing_and_damaged_wordnet_say_what_to_do(tmp_path, monkeypatch, table):
    monkeypatch.setenv("PAIRLENS_WORDNET", str(tmp_path / "nowhere"))
    with pytest.raises(LinguisticsError, match=r"apt-get install wordnet-base.*PAIRLENS_WORDNET") as raised:
        named("entailment", "a dog", "a cat", table)
    assert "\n" not in str(raised.value)
    assert len(named("answer", "a dog", "a cat", table)) == 4
    monkeypatch.setenv("PAIRLENS_WORDNET", str(tmp_path))
    for name in wordnet._FILES:
        (tmp_path / name).write_text("dog n 1 0 x\n")
    with pytest.raises(LinguisticsError, match=r"damaged.*apt-get install wordnet-base"):
        named("entailment", "a dog", "a cat", table)


@pytest.mark.slow
def test_wordnet_is_read_from_the_named_folder(tmp_path, monkeypatch):
    for name in wordnet._FILES:
        (tmp_path / name).symlink_to(f"{wordnet.DEFAULT_FOLDER}/{name}")
    monkeypatch.chdir(tmp_path.parent)
    monkeypatch.setenv("PAIRLENS_WORDNET", tmp_path.name)
    assert wordnet.lexicon() is wordnet.lexicon()
    assert relations(["car"], ["automobile"]) == [1, 0, 0]
    monkeypatch.delenv("PAIRLENS_WORDNET")
    assert wordnet.lexicon()._folder != tmp_path.resolve()


@pytest.mark.slow
def test_threads_give_the_same_values(monkeypatch, table):
    texts = [
        "a man rides a brown horse",
        "two kids swim in cold water",
        "the big dogs sleep",
        "no woman cuts an onion",
        "an old car drives quickly",
        "somebody is slicing a vegetable",
        "people watch the small children play",
    ]
    pairs = [(tokenize(a), tokenize(b)) for a, b in itertools.permutations(texts, 2)]
    one = [extra_features("entailment", *pair, table) for pair in pairs]
    # A fresh lexicon, so that the threads load it and fill its memory at the same time.
    monkeypatch.setattr(wordnet, "_LOADED", {})
    wordnet.Lexicon.entry.cache_clear()
    with ThreadPoolExecutor(8) as pool:
        many = list(pool.map(lambda pair: extra_features("entailment", *pair, table), pairs))
    assert many == one
    assert len(wordnet._LOADED) == 1


def test_the_stop_words_are_those_of_scikit_learn():
    assert stop_words() == ENGLISH_STOP_WORDS
