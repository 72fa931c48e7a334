"""Families of short statements and scenes: what follows is said once, without contradiction, and in clean English."""

import re
from collections import Counter
from collections.abc import Iterable
from itertools import combinations

import pytest

from core.evaluation.suites import SUITES
from core.linguistics.word_lists import article, plural
from trainers.paper import make_pairs
from trainers.paper.make_pairs.families import Families, filled
from trainers.paper.make_pairs.samplers import with_article
from trainers.paper.make_pairs.verbs import Verb, contracted, groups

SCENES = ["A man is running on a beach.", "Two dogs play in the snow"]


@pytest.fixture(scope="module")
def families() -> Families:
    return Families(1, SCENES)


@pytest.fixture(scope="module")
def pairs(families: Families) -> list[tuple[str, str, str, str]]:
    return list(families.pairs(0.05))


def test_a_family_says_once_what_follows_and_what_excludes_is_excluded(families: Families) -> None:
    for name, family in families.families.items():
        relations = {
            tuple(pair.split(" > ")): label
            for label in ("entailment", "neutral", "contradiction")
            for pair in family[label]
        }
        assert len(relations) == sum(len(family[label]) for label in ("entailment", "neutral", "contradiction")), name
        assert {key for pair in relations for key in pair} == {*family["says"]}, name
        for one, other in combinations(family["says"], 2):
            # What excludes another thing is excluded by it, and cannot follow from it or leave it open.
            both = {relations.get((one, other)), relations.get((other, one))} - {None}
            assert "contradiction" not in both or both == {"contradiction"}, (name, one, other)
        for (first, second), label in relations.items():
            if label == "entailment":
                for third in family["says"]:
                    # What excludes the conclusion excludes the premise.
                    if relations.get((second, third)) == "contradiction":
                        assert relations.get((first, third), "contradiction") == "contradiction", (name, first, third)
                    if relations.get((second, third)) == "entailment":
                        assert relations.get((first, third), "entailment") == "entailment", (name, first, third)


def test_every_family_has_all_its_labels_and_no_pair_twice(
    families: Families, pairs: list[tuple[str, str, str, str]]
) -> None:
    counts = Counter((family, label) for family, label, *_ in pairs)
    for name, family in families.families.items():
        kinds = {label: family.get("kinds", {}).get(label, name) for label in counts_of(family)}
        assert all((kind, label) in counts for label, kind in kinds.items()), name
        of_labels = [count for (kind, _), count in counts.items() if kind == name]
        assert max(of_labels) - min(of_labels) <= max(of_labels) // 2, name
    assert len({pair[2:] for pair in pairs}) == len(pairs)


def test_exchanged_words_exclude_each_other_and_dropped_ones_follow(made: list[tuple[str, str, str, str]]) -> None:
    overlapping = [{"bike", "bicycle"}, {"shirt", "t-shirt"}, {"car", "jeep"}, {"meat", "chicken"}, {"violin", "cello"}]
    for label, *texts in kinds_of(made, "cohyponym", "colour", "number", "antonym"):
        words = [{*re.findall(r"[a-z-]+", text.lower())} - {"a", "an", "the"} for text in texts]
        assert label != "contradiction" or words[0] ^ words[1] not in overlapping, texts
    for label, *texts in kinds_of(made, "dropped", "added"):
        longer, shorter = texts if label == "entailment" else reversed(texts)
        assert len(longer.split(" ")) >= len(shorter.split(" ")), texts
    for label, premise, hypothesis in kinds_of(made, "same"):
        assert label == "entailment" and premise.rstrip(".") == hypothesis.rstrip(".")


def test_only_count_nouns_take_an_article() -> None:
    given = ("apple", "coffee", "a drink", "chess", "sneakers", "chicken", "tall man")
    assert [with_article(noun) for noun in given] == [
        "an apple", "coffee", "a drink", "chess", "sneakers", "a chicken", "a tall man",
    ]  # fmt: skip


def test_braces_take_articles_plurals_and_digits() -> None:
    words = {"x": "apple", "A": "the", "n": "eleven", "colour x": "red apple"}
    assert filled("{a x}, {A x}, {x s}, {#n}, {a colour x}.", words) == "an apple, the apple, apples, 11, a red apple."
    assert filled("{A x}.", words | {"A": "a"}) == "an apple."
    assert filled("{a up}.", words) is None


def test_no_sentence_of_the_suite_is_made(made: list[tuple[str, str, str, str]]) -> None:
    def texts(pairs: Iterable[tuple[object, ...]]) -> set[object]:
        return {text for *_, premise, hypothesis in pairs for text in (premise, hypothesis)}

    suite = {text for row in SUITES["simple"].pairs.rows for text in (row.first, row.second)}
    assert suite & texts(made)  # else what follows says nothing
    assert not suite & texts(make_pairs.make(SCENES, seed=1, scale=0.05))


def test_every_relation_can_be_made(families: Families) -> None:
    for family in families.families.values():
        for first, second in (relation.split(" > ") for label in counts_of(family) for relation in family[label]):
            forms = family["says"][first], family["says"][second]
            drawn = (families.samplers.draw(family["draws"]) for _ in range(60))
            assert any(None not in [filled(form, words) for form in forms] for words in drawn), (first, second)


def counts_of(family: dict[str, object]) -> list[str]:
    return [label for label in ("entailment", "neutral", "contradiction") if family[label]]


def test_statements_and_scenes_are_clean_english_and_some_lack_their_full_stop(
    made: list[tuple[str, str, str, str]],
) -> None:
    texts = [text for pair in made for text in pair[2:]]
    for text in texts:
        assert re.fullmatch(r"[A-Z][A-Za-z0-9,' -]+\.?", text), text
        assert "  " not in text and " ," not in text, text
        for a, word in re.findall(r"\b(an?) (\w+)", text, re.IGNORECASE):
            assert a.lower() == article(word), text
    assert 0.05 < sum(not text.endswith(".") for text in texts) / len(texts) < 0.2


@pytest.fixture(scope="module")
def quantities(made: list[tuple[str, str, str, str]]) -> list[tuple[str, str, str, str]]:
    return [pair for pair in made if pair[0] in ("direction", "turned", "determiner")]


def test_determiners_decide_which_steps_follow(quantities: list[tuple[str, str, str, str]]) -> None:
    # A scope or a restrictor that is longer by a phrase is the narrower one.
    checked: Counter[str] = Counter()
    for kind, label, premise, hypothesis in quantities:
        first, second = premise.rstrip("."), hypothesis.rstrip(".")
        for determiner, follows in (("Every", "shorter"), ("Not one", "longer"), ("Exactly two", "neither")):
            if kind == "direction" and first.startswith(f"{determiner} ") and " or " not in premise + hypothesis:
                for step, one, other in (("shorter", first, second), ("longer", second, first)):
                    if one.startswith(f"{other} "):
                        assert label == ("entailment" if step == follows else "neutral"), (premise, hypothesis)
                        checked[determiner] += 1
    assert min(checked[determiner] for determiner in ("Every", "Not one", "Exactly two")) > 3, checked


@pytest.mark.parametrize(
    ("forms", "third", "progressive"),
    [
        ("chased chase chased", "chases", "chasing"),
        ("hit hit hit", "hits", "hitting"),
        ("carried carry carried", "carries", "carrying"),
        ("lied lie lied", "lies", "lying"),
        ("followed follow followed", "follows", "following"),
        ("fed feed fed", "feeds", "feeding"),
        ("quit quit quit", "quits", "quitting"),
        ("teach teach taught", "teaches", "teaching"),
    ],
)
def test_verbs_have_their_forms(forms: str, third: str, progressive: str) -> None:
    verb = Verb(*forms.split())
    assert (verb.third, verb.progressive) == (third, progressive)


def test_a_verb_group_agrees_with_its_subject_in_every_tense() -> None:
    look = Verb("looked at", "look at", "looked at")
    assert list(groups(look, "present", plural=False).values()) == [
        "looks at",
        "does not look at",
        "is looked at",
        "is not looked at",
    ]
    assert groups(look, "past progressive", plural=True)["NP"] == "were not being looked at"
    assert contracted("They did not run and will not sit.") == "They didn't run and won't sit."


def test_no_sentence_of_a_suite_is_made_whatever_its_capitals_and_full_stop() -> None:
    suite = SUITES["order"].pairs.rows[0]
    assert make_pairs.plain(suite.first.upper().rstrip(".")) == make_pairs.plain(suite.first)


@pytest.fixture(scope="module")
def made() -> list[tuple[str, str, str, str]]:
    return list(Families(2, SCENES).pairs(0.4))


def kinds_of(made: list[tuple[str, str, str, str]], *kinds: str) -> list[tuple[str, str, str]]:
    of_kinds = [pair[1:] for pair in made if pair[0] in kinds]
    assert len(of_kinds) > 100
    return of_kinds


def test_a_conclusion_is_not_made_where_another_may_exist_or_the_deed_stays_open(families: Families) -> None:
    made = families.families
    assert not [pair for pair in made["owners"]["contradiction"] if pair.split(" > ")[1].startswith("there")]
    assert {"did > not failed", "did > not forgot"} <= {*made["commitment"]["entailment"]}
    relations = [pair for label in counts_of(made["commitment"]) for pair in made["commitment"][label]]
    assert "not forgot > did" not in relations and "failed > not forgot" not in relations
    assert not [words for words in families.samplers.data["managed"] if "able" in words or words.startswith("was ")]


def test_exchanged_roles_exclude_each_other_and_the_other_voice_means_the_same(
    made: list[tuple[str, str, str, str]],
) -> None:
    seen = set()
    for label, *texts in kinds_of(made, "swapped"):
        # Agent and patient, whatever the voice: the agent stands behind "by" in the passive.
        acts = []
        for text in texts:
            first, doing, second = re.fullmatch(r"(.+?) is (being \w+ by|\w+) (.+?)\.?", text).groups()  # type: ignore[union-attr]
            ends = [f"{end[0].lower()}{end[1:]}" for end in (first, second)]
            acts.append(ends[::-1] if "being" in doing else ends)
        assert (acts[0] == acts[1]) == (label == "entailment") and (acts[0] == acts[1][::-1]) == (
            label == "contradiction"
        )
        seen.add(label)
    assert seen == {"entailment", "contradiction"}


def test_what_happens_once_has_one_place_and_one_time(made: list[tuple[str, str, str, str]]) -> None:
    for label, *texts in kinds_of(made, "name"):
        negated = [bool(re.search(r" not |n't ", text)) for text in texts]
        when = [match[1] if (match := re.search(r"(?:born|built) (.+?)\.?$", text)) else "" for text in texts]
        if label == "contradiction":
            assert all(when) and (when[0] == when[1]) == any(negated) and not all(negated), texts
        if label == "entailment":
            assert not negated[0] and when[0] and (not when[1] or (negated[1] and when[0] != when[1])), texts


def test_failing_and_forgetting_exclude_each_other_for_one_verb_alone(made: list[tuple[str, str, str, str]]) -> None:
    opposed = 0
    for label, *texts in kinds_of(made, "commitment"):
        negated = [text.replace("n't ", " not ") for text in texts]
        for one, other in (negated, negated[::-1]):
            for base, past in (("forget", "forgot"), ("refuse", "refused"), ("decline", "declined")):
                if label == "contradiction" and f" did not {base} to " in one:
                    assert f" {past} to " in other, texts
                    opposed += 1
    assert opposed > 10


def test_one_aspect_stands_in_a_scene(families: Families) -> None:
    for _ in range(200):
        words = families.samplers.draw(["people", "deeds", "doings"])
        groups_of = [words[key] for key in ("V who", "V2 who", "I third")]
        assert len({bool(re.match(r"(is|are|was|were) \w+ing", group)) for group in groups_of}) == 1, groups_of


def test_verbs_that_say_and_know_have_the_tense_and_number_of_their_scene(
    families: Families, made: list[tuple[str, str, str, str]]
) -> None:
    for _ in range(200):
        words = families.samplers.draw(["told", "people", "deeds", "doings", "frames"])
        if words["tense"] == "present":
            assert not re.match(r"(said|thought|knew|was|were) ", words["claimed third"]), words["claimed third"]
    for *_, premise, hypothesis in made:
        for text in (premise, hypothesis):
            assert not re.match(r"(The|My|Some|Two) \w+ers (was|is|has|wasn't) ", text), text
            assert not re.match(r"(In case|Only if) |Before \w+ \w+ (is|are|was|were) ", text), text


def test_names_have_no_place_and_lasting_states_neither(
    families: Families, made: list[tuple[str, str, str, str]]
) -> None:
    names = {*families.samplers.lists["male names"], *families.samplers.lists["female names"]}
    for _, *texts in kinds_of(made, "attached"):
        assert not names & {word.rstrip(".") for text in texts for word in text.split(" ")}, texts
    for _, *texts in kinds_of(made, "opposite"):
        for text in texts:
            if match := re.search(r" (?:is|are) (.+) in the ", text):
                assert match[1] in families.samplers.data["passing"] or text.startswith("There "), text


def test_somebody_is_a_person_and_only_speaks_of_known_ones(
    families: Families, made: list[tuple[str, str, str, str]]
) -> None:
    animals = {form for noun in families.samplers.data["animals"] for form in (noun, plural(noun))}
    checked = 0
    for label, *texts in kinds_of(made, "voice"):
        for one, other in (texts, texts[::-1]):
            if one.startswith("Somebody ") and label == "entailment" and " by " not in other:
                assert other.rstrip(".").split(" ")[1] not in animals, texts
                checked += 1
    assert checked > 10


def test_verbs_are_in_one_list_and_disputed_ones_in_none(families: Families) -> None:
    deeds, feelings = ({row[0] for row in families.samplers.data[name]} for name in ("deeds", "feelings"))
    assert not deeds & feelings
    disputed = {"bumped", "surprised", "frightened", "chose", "filmed", "photographed", "touched"}
    assert not disputed & (deeds | feelings)


def test_what_was_refused_turns_nothing_but_was_not_done(quantities: list[tuple[str, str, str, str]]) -> None:
    turned = [pair for pair in quantities if pair[0] == "turned"]
    refusals = re.compile(r" (refused|forgot|failed|declined|avoided) ")
    steps = [pair for pair in turned if pair[1] != "contradiction" and refusals.search(pair[2])]
    assert len(steps) > 50
    for _, _, premise, hypothesis in steps:
        assert not refusals.search(hypothesis), (premise, hypothesis)
    texts = [text for *_, premise, hypothesis in turned for text in (premise, hypothesis)]
    assert not [text for text in texts if "not forget" in text or "n't forget" in text or "refuse to" in text]
    assert not [text for text in texts if " a nurse" in text or "seen seeing" in text]
