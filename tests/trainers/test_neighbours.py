"""`python -m trainers neighbours`: an index of the training rows, which the page finds."""

import dataclasses
import json

from core import neighbours
from core.checkpoint import load
from tests.core.made_up import make_checkpoint, make_table
from trainers.__main__ import main
from trainers.recipe import load as load_recipe


def test_the_training_rows_of_a_card_are_indexed_without_those_that_are_not_there(tmp_path, monkeypatch, capsys):
    monkeypatch.setenv("PAIRLENS_NEIGHBOURS", str(tmp_path / "indices"))
    make_checkpoint(tmp_path / "tiny", make_table())
    recipe = load_recipe("nli-attconv-light")
    source = dataclasses.replace(recipe.train[0], name="made up", path="train.csv", rows=0)
    absent = dataclasses.replace(source, name="absent", path="absent.csv")
    values = dataclasses.replace(recipe, train=(source, absent)).to_dict()
    card = tmp_path / "tiny/card.json"
    card.write_text(json.dumps(json.loads(card.read_text()) | {"recipe": values}))
    lines = [f"a dog {i} plays,the dog is cold,{label}" for i, label in enumerate(("neutral", "entailment") * 10)]
    lines += [lines[0], "a dog, . ,maybe"]
    (tmp_path / "train.csv").write_text("\n".join(["premise,hypothesis,label", *lines]) + "\n")
    command = ["neighbours", str(tmp_path / "tiny"), "--data", str(tmp_path), "--rows", "12"]
    assert main(command) == 0
    printed = capsys.readouterr()
    assert "tiny: 12 of 20 training rows" in printed.out and "absent is not at absent.csv" in printed.err
    found = neighbours.nearest(load(tmp_path / "tiny"), "a dog 3 plays", "the dog is cold")
    assert (found.searched, found.of) == (12, 20) and {*found.by_label} == {"neutral", "entailment"}
    assert all(one.row.data == "made up" for rows in found.by_label.values() for one in rows)
    made = (tmp_path / "indices/tiny/vectors.safetensors").read_bytes()
    assert main(command) == 0 and (tmp_path / "indices/tiny/vectors.safetensors").read_bytes() == made
