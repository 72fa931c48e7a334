"""Speed of models from elsewhere: what explaining costs beside a forward pass of their own library."""

from __future__ import annotations

import functools
import tempfile
from pathlib import Path
from typing import Any

import torch

from core.checkpoint import load
from core.effects.links import Taken
from core.effects.why import what_links_do
from core.explain import explain
from core.reading.word_table import default_table
from trainers.bench.explaining import sentences
from trainers.bench.row import Row, Unmeasured, filled, medians

SIZE = {"hidden_size": 768, "num_hidden_layers": 12, "num_attention_heads": 12, "intermediate_size": 3072}
WORDS = 3_000
"""Of the vocabulary, the word table's first."""


def guests(quick: bool) -> list[Row]:
    """Explaining a pair, with the maps and thumbnails of all heads, in passes of the forward call with
    ``output_attentions=True``; and the strongest links, in passes."""
    rows = [
        Row("explain 20 + 12 words, BERT of 12 layers x 768", None, "x", 1.5),
        Row("explain 60 + 60 words, BERT of 12 layers x 768", None, "x", 1.5),
        Row("a link of 20 + 12 words, BERT of 12 layers x 768", None, "x", 1.5),
    ]
    return filled(rows, lambda: _measured(5 if quick else 15))


def _measured(repeats: int) -> list[tuple[float, str]]:
    try:
        import transformers
    except ImportError:
        raise Unmeasured("transformers is not installed: make guests") from None
    with tempfile.TemporaryDirectory() as folder:
        guest = load(_made(transformers, Path(folder)))
    model: Any = guest.model
    values = []
    for counts in ((20, 12), (60, 60)):
        pair = sentences(guest, *counts)
        pieces: Any = guest.reader.batch(guest.read(*pair))

        def plain(pieces: Any = pieces) -> object:
            with torch.inference_mode():
                return model.body(**pieces.inputs, attention_mask=pieces.real.long(), output_attentions=True)

        ours, theirs = medians([functools.partial(explain, guest, *pair), plain], repeats)
        values.append((ours / theirs, f"{ours:.0f} ms; its own library {theirs:.0f} ms, {pieces.real.shape[1]} pieces"))
        if counts == (20, 12):
            cut = functools.partial(what_links_do, guest, *pair, Taken.RENORMALISED)
            links = medians([cut], 2)[0] / 43
            of_links = (links / theirs, f"{links:.0f} ms a pass, of 43")
    return [*values, of_links]


def _made(transformers: Any, folder: Path) -> Path:
    """A BERT with random weights and a vocabulary of words, and of letters for what it lacks."""
    words = [word for word in default_table().words[:WORDS] if word.isalpha()]
    letters = "abcdefghijklmnopqrstuvwxyz.,'"
    pieces = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", *words, *letters, *(f"##{letter}" for letter in letters)]
    (folder / "vocab.txt").write_text("\n".join(dict.fromkeys(pieces)) + "\n", encoding="utf-8")
    tokenizer = transformers.BertTokenizerFast(vocab={piece: n for n, piece in enumerate(dict.fromkeys(pieces))})
    labels = dict(enumerate(("entailment", "neutral", "contradiction")))
    config = transformers.BertConfig(vocab_size=len(tokenizer), id2label=labels, **SIZE)
    transformers.BertForSequenceClassification(config).save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return folder
