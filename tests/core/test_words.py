import json

import pytest
import torch

from core.reading.word_table import WordTable, WordTableError, default_table, ngram_vector

WORDS = ["dog", "red", "haired", "telemundo", "zzz"]


@pytest.fixture
def made():
    torch.manual_seed(0)
    return WordTable.from_vectors(WORDS, torch.randn(5, 32) * torch.tensor([[0.1], [1], [3], [1], [1]]), 1.0, "made-up")


def test_int8_keeps_each_row_within_half_a_step():
    torch.manual_seed(0)
    vectors = torch.randn(5, 32) * torch.tensor([[0.1], [1], [3], [1], [1]])
    table = WordTable.from_vectors(WORDS, vectors, 1.0, "made-up")
    assert ((table.vectors(WORDS) - vectors).abs() <= table.scales[:, None] * 0.5001).all()


def test_saved_and_loaded_table_gives_the_same_vectors(made, tmp_path):
    sha256 = made.save(tmp_path)
    again = WordTable.load(tmp_path)
    assert again.sha256 == sha256 and again.words == WORDS and again.name == "made-up"
    assert again.save(tmp_path / "again") == sha256
    asked = ["dog", "nobody", "red-haired", "𝔘nicode"]
    assert torch.equal(again.vectors(asked), made.vectors(asked))


def test_a_table_over_another_one(made, tmp_path):
    rows = torch.eye(2, 32)
    over = WordTable.from_vectors(["dog", "melanchiton"], rows, 1.0, "tuned", made)
    over.save(tmp_path)
    for table in (over, WordTable.load(tmp_path, made)):
        torch.testing.assert_close(table.vectors(["dog", "melanchiton"]), rows)
        others = ["red", "red-haired", "zyxgraph"]
        assert torch.equal(table.vectors([*others, "dog"])[:3], made.vectors(others)) and table.width == 32
        assert table.known("red") and table.known("melanchiton") and not table.known("zyxgraph")
        assert made.vectors(["dog"])[0, 0] != 1  # the one beneath stays as it is
    asked = rows[0] + 0.5 * made.vectors(["telemundo"])[0]
    vectors = {word: over.vectors([word])[0] for word in [*WORDS, "melanchiton"]}
    cosines = {word: float(torch.cosine_similarity(vector, asked, 0)) for word, vector in vectors.items()}
    nearest = over.nearest(asked, 4)
    assert [word for word, _ in nearest] == sorted(cosines, key=cosines.__getitem__, reverse=True)[:4]
    assert {"dog", "telemundo"} < {word for word, _ in nearest}
    with pytest.raises(WordTableError, match="rows of 32 numbers, the table beneath it 8"):
        WordTable.load(tmp_path, WordTable.from_vectors(["a"], torch.ones(1, 8), 1.0, "narrow"))


def test_unknown_words(made):
    compound, name, same, other = made.vectors(["red-haired", "zyxgraph", "zyxgraph", "quibble"])
    assert torch.allclose(compound, made.vectors(["red", "haired"]).mean(0))
    assert torch.equal(name, same) and not torch.equal(name, other)
    assert abs(float(name.norm()) - 1) < 1e-5
    assert not made.known("zyxgraph") and made.known("dog")


def test_spelling_vectors_are_near_for_like_spellings():
    def cosine(a, b):
        return float(ngram_vector(a, 160) @ ngram_vector(b, 160))

    assert cosine("telemundos", "telemundo") > 0.6 > 0.3 > abs(cosine("telemundos", "pharmacy"))


def test_nearest_finds_the_word_itself_first(made):
    found = made.nearest(made.vectors(["haired"])[0] * 7, k=3)
    assert found[0][0] == "haired" and found[0][1] == pytest.approx(1, abs=2e-3) and len(found) == 3


def test_damaged_and_foreign_files_are_refused(made, tmp_path):
    with pytest.raises(WordTableError, match="no word table"):
        WordTable.load(tmp_path)
    made.save(tmp_path)
    path = tmp_path / "words.safetensors"
    path.write_bytes(path.read_bytes()[:-40])
    with pytest.raises(WordTableError, match="damaged"):
        WordTable.load(tmp_path)
    from safetensors.torch import save_file

    save_file({"codes": torch.zeros(1)}, path)
    with pytest.raises(WordTableError, match="not a PairLens word table"):
        WordTable.load(tmp_path)
    with pytest.raises(WordTableError, match="needs codes"):
        WordTable(["a"], torch.zeros(2, 3, dtype=torch.int8), torch.zeros(2), 1.0, "x")


# --- the shipped table -----------------------------------------------------------------------------------------------


def test_the_shipped_table():
    table = default_table()
    from core.reading.word_table import DEFAULT_FOLDER

    card = json.loads((DEFAULT_FOLDER / "card.json").read_text())
    assert len(table) >= 100_000 and card["words"] == len(table) == len(set(table.words))
    assert sum(f.stat().st_size for f in DEFAULT_FOLDER.iterdir()) <= 20_000_000
    assert table.codes.dtype == torch.int8
    assert table.vectors(table.words[:2000]).norm(dim=1).min() > 0.01
    for word in ("n't", "'s", ",", "houston", "1990s", "12"):
        assert table.known(word), word


def _cosine(table, a, b):
    x, y = table.vectors([a, b])
    return float(torch.cosine_similarity(x, y, dim=0))


def test_the_shipped_table_knows_meanings_inflections_and_names():
    table = default_table()
    assert _cosine(table, "dog", "puppy") > _cosine(table, "dog", "airplane") + 0.2
    assert 0.3 < _cosine(table, "runs", "running") < 0.999
    assert not table.known("telemundos")
    others = ("houston", "banana", "parliament", "1987", "quickly", "microsoft", "zebra", "violin")
    assert _cosine(table, "telemundos", "telemundo") > max(_cosine(table, "telemundos", o) for o in others) + 0.2


@pytest.mark.parametrize("number", [float("nan"), float("inf")])
@pytest.mark.parametrize("of", ["scales", "unknown_scale"])
def test_a_table_of_numbers_that_are_not_finite_is_refused(made, tmp_path, of, number):
    setattr(made, of, torch.full_like(made.scales, number) if of == "scales" else number)
    made.save(tmp_path)
    with pytest.raises(WordTableError, match="vectors that are not finite"):
        WordTable.load(tmp_path)
