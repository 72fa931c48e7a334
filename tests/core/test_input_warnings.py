"""Warnings next to a verdict where a text may not be read as meant."""

import json

import pytest

from core.__main__ import main
from core.checkpoint import load, load_named
from core.evidence import Explanation
from core.explain import explain
from core.reading.tokens import AUXILIARIES
from tests.core.made_up import make_checkpoint

STATEMENT = "A man swims in a lake."


def warnings(first, second=STATEMENT, model="nli-two-sided"):
    return explain(load_named(model), first, second, records=()).warnings


@pytest.mark.parametrize("sign", "´`ʼ＇′’")
def test_a_negation_is_one_with_any_apostrophe(sign):
    expected = explain(load_named("nli-two-sided"), "A man can't swim.", "A man swims.", records=())
    typed = explain(load_named("nli-two-sided"), f"A man can{sign}t swim.", "A man swims.", records=())
    assert expected.verdict == "contradiction" and typed.logits == expected.logits and typed.warnings == ()


@pytest.mark.parametrize("side", ["premise", "hypothesis"])
@pytest.mark.parametrize(
    ("text", "named", "said"),
    [
        ("A man dont swim.", "“dont”", "not read as a negation"),
        ("A man ISNT swimming.", "“ISNT”", "not read as a negation"),
        ("A man does'nt swim.", "“does'nt”", "not read as a negation"),
        ("A man can;t swim.", "“can;t”", "not read as a negation"),
        ("A man don ' t swim.", "“don ' t”", "not read as a negation"),
        ("A man don’ t swim.", "“don’ t”", "not read as a negation"),
        ("He counted 4711 sheep.", "number “4711”", "missing from the word vectors"),
        ("He counted 48,213 or 7319 sheep.", "numbers “48,213”, “7319”", "missing from the word vectors"),
        ("It weighs 1½ tons.", "number “1½”", "missing from the word vectors"),
        ("He counted 1 000 sheep.", "“1 000”", "write it without spaces"),
        ("He counted 1\u202f000\u202f000 sheep.", "“1\u202f000\u202f000”", "write it without spaces"),
        ("Zorkal flurb gromit blick", "Most words", "unknown to the word vectors"),
        ("A mann swimms in a laek.", "(swimms, laek)", "misspelt or not English"),
        ("Ein Mann schwimmt in einem See.", "German", "trained on English"),
        ("Ein Hund.", "German", "trained on English"),
        ("Un homme dort.", "French", "trained on English"),
        ("El hombre está durmiendo en el parque.", "Spanish", "trained on English"),
        ("Een vrouw slaapt.", "Dutch", "trained on English"),
        ("A man swims. Eine Frau liest ein Buch. They talk.", "entence of", "German"),
        ("A man swims in a lake and a woman reads. 今天天气很好。", "entence of", "script"),
        ("今天天气很好我们去公园玩", "script", "not trained on"),
        ("Мужчина плавает в озере.", "script", "not trained on"),
        ("Is the man swimming?", "question", "compares statements"),
        ("Who is swimming", "question", "compares statements"),
        ("The man said: “Why?”", "question", "compares statements"),
    ],
)
def test_misread_input_is_named_for_both_sentences(text, named, said, side):
    pair = (text, STATEMENT) if side == "premise" else (STATEMENT, text)
    (warning,) = warnings(*pair)
    assert named in warning and said in warning and side in warning


@pytest.mark.parametrize(
    "text",
    [
        "Charles de Gaulle spoke in Paris.", "Leonardo da Vinci painted.", "Ludwig van Beethoven composed.",
        "Don Juan de Marco is a film.", "Los Angeles and Las Vegas are cities.", "Die Hard is on.", "Man sleeping.",
        "He hat den die man.", "No one sleeps.", "El Paso is hot.", "Dogs run.", "Come in.", "The barn is red.",
    ],
)  # fmt: skip
def test_english_with_names_from_elsewhere_is_not_taken_for_another_language(text):
    assert not [warning for warning in warnings(text) if "trained on" in warning], text


def test_a_warning_about_both_texts_is_given_once():
    (warning,) = warnings("Мужчина плавает в озере.", "Мужчина плавает.")
    assert warning == "The model was not trained on the script of both texts: treat the verdict as a guess."
    (warning,) = warnings("Zorkal flurb gromit blick", "Zorkal flurb gromit")
    assert warning.startswith("Most words of both texts are unknown")
    assert len(warnings("Is the man swimming?", "Zorkal flurb gromit")) == 2


@pytest.mark.parametrize(
    "text",
    [
        "A man can't swim.",
        "I cannot and won't, don't ask.",
        "A man don 't swim.",
        "He counted 1,000 sheep in 1990, 3/4 of them at 5pm.",
        "He paid $5,000 for 20 kg.",
        "He wants to dance in the tent.",
        "Will Smith has a can of beans.",
        "What a nice day!",
        "A mariachi band plays at the taqueria El Sol de la Noche.",
        "Two men.",
    ],
)
def test_usual_sentences_have_no_warning(text):
    assert warnings(text) == () == warnings(STATEMENT, text)


@pytest.mark.parametrize("auxiliary", sorted(AUXILIARIES))
def test_no_negation_is_lost_in_silence(auxiliary):
    assert warnings(f"He {auxiliary}n't run.") == ()
    assert all("not read as a negation" in warnings(f"He {auxiliary}{end} run.")[0] for end in ("nt", "'nt", "n' t"))


def test_a_negation_that_the_vectors_lack_is_named(tmp_path, table):
    checkpoint = make_checkpoint(tmp_path / "c", table)
    said = explain(checkpoint, "The dog never plays in the snow", "A dog").warnings
    assert said == (
        "The negation “never” in the premise is missing from the word vectors: treat the verdict as a guess.",
    )


def test_a_text_is_of_another_script_if_most_of_its_letters_are():
    for text, other in (("dogs мирр", False), ("dog мирр", True), ("мирр 1234567 !?", True)):
        assert any("not trained on the script" in warning for warning in warnings(text)) == other, text


def test_a_text_is_long_if_it_is_longer_than_nearly_all_that_were_trained_on(tmp_path, table):
    checkpoint = make_checkpoint(tmp_path / "c", table)
    checkpoint.card["typical_length"] = {"premise": 3, "hypothesis": 2}
    assert explain(checkpoint, "the dog plays", "a dog", records=()).warnings == ()
    (said,) = explain(checkpoint, "the dog plays", "a dog plays", records=()).warnings
    assert said == "The hypothesis has 3 words; 99 % of those the model was trained on had at most 2."


def test_questions_are_no_fault_where_the_task_asks_them():
    assert warnings("Who is a man?", "A man swims in a lake.", "qa-phrases-kmax") == ()
    assert warnings("Is it a man?", "Is it not a man?", "para-adaqa") == ()


@pytest.mark.parametrize(
    "text",
    [
        "Der Hund rennt durch den Garten.",
        "Deux chiens courent dans la neige.",
        "Los niños juegan al fútbol.",
        "Nessuno dorme in questa stanza.",
        "Twee honden rennen door het gras.",
        "Duas mulheres caminham pela praia.",
        "Mężczyzna gra na gitarze w parku.",
    ],
)
def test_a_sentence_of_another_language_is_named_or_has_words_that_are_unknown(text):
    (warning,) = warnings(text, "A dog runs.")
    assert "premise seems to be" in warning or "of the premise are unknown to the word vectors" in warning
    assert warning.endswith("the verdict as a guess.")


def test_every_command_prints_the_pages_warnings(tmp_path, table, capsys):
    folder = make_checkpoint(tmp_path / "tiny", table).folder
    pair = ("--first", "Is the dog in the snow?", "--second", "The dog plays in 4711 snow")
    said = list(explain(load(folder), pair[1], pair[3]).warnings)
    assert len(said) == 2
    for command in (["explain", "--model", str(folder)], ["why", str(folder)]):
        assert main([*command, *pair]) == 0
        printed = capsys.readouterr().out
        assert all(warning in printed.splitlines() for warning in said)
        assert main([*command, *pair, "--json"]) == 0
        assert json.loads(capsys.readouterr().out)["warnings"] == said
    assert main(["turn", str(folder), *pair, "--json"]) == 0
    printed = capsys.readouterr()
    assert printed.err.splitlines()[: len(said)] == said and isinstance(json.loads(printed.out), list)


def test_warnings_survive_being_saved(tmp_path, table):
    saved = explain(make_checkpoint(tmp_path / "c", table), "Is the dog in the snow?", "The dog plays")
    assert saved.warnings and Explanation.from_dict(json.loads(saved.to_json())).warnings == saved.warnings
