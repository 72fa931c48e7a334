"""The command that trains the guest that is shipped: its folder is one in Hugging Face's format, and opens."""

import torch
import transformers

from core.checkpoint import load, read_card
from core.evidence import AttentionMap
from core.explain import explain
from trainers.paper.__main__ import main as paper

PAIR = ("a red dog runs", "not a red dog")


def test_a_small_bert_is_trained_and_opens(data, tmp_path, capsys):
    options = ["--layers", "2", "--width", "32", "--pieces", "120", "--epochs", "2", "--batch", "8", "--threads", "1"]
    assert paper(["minibert", "--data", str(data), "--out", str(tmp_path / "mini"), *options]) == 0
    said = capsys.readouterr().err
    assert "masked words 1: loss" in said and "epoch 2: loss" in said
    card = read_card(tmp_path / "mini")
    assert (card["title"], card["task"], card["licence"]) == ("MiniBERT", "entailment", "CC BY-SA 4.0")
    assert card["results"]["SNLI dev"]["items"] == 24 and card["results"].keys() >= {"SICK trial", "MNLI dev-matched"}
    assert (card["config"]["layers"], card["config"]["heads"]) == (2, 1)
    readme = (tmp_path / "mini/README.md").read_text()
    assert "python -m trainers.paper minibert --data DATA --out mini" in readme
    assert f"{card['results']['SNLI dev']['accuracy']:.2%} of 24" in readme
    explanation = explain(load(tmp_path / "mini"), *PAIR)
    assert explanation.labels == ("entailment", "neutral", "contradiction") and explanation.find(AttentionMap)
    model = transformers.AutoModelForSequenceClassification.from_pretrained(tmp_path / "mini", dtype=torch.float32)
    tokenizer = transformers.AutoTokenizer.from_pretrained(tmp_path / "mini")
    with torch.inference_mode():
        logits = model.eval()(**tokenizer(*PAIR, return_tensors="pt")).logits[0]
    torch.testing.assert_close(logits, torch.tensor(explanation.logits), atol=1e-5, rtol=0)
