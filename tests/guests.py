"""Small transformers with random weights, in the folders that Hugging Face's library writes, with tokenisers fitted
here: what a person's own model looks like."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch
import transformers
from safetensors.torch import save_file
from tokenizers import Tokenizer, decoders, models, normalizers, pre_tokenizers, processors, trainers

from core.json_types import JsonObject

TEXTS = (
    "A man in a blue shirt is playing a guitar on a small stage.",
    "Three girls don't eat ice cream, they play with a red ball in the park!",
    "The dog chases the cat; the cat isn't chasing the dog's ball.",
    "Nobody is sleeping outside near the U.S. embassy at 10:30 p.m.",
    "Две собаки бегут по снегу 🐶 naïve café 日本語のテスト مرحبا",
)
LABELS = ("entailment", "neutral", "contradiction")
_SPECIAL = ["<s>", "<pad>", "</s>", "<unk>", "<mask>"]


def word_piece() -> Any:
    """A lower-casing WordPiece, as BERT's."""
    special = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
    fitted = Tokenizer(models.WordPiece(unk_token="[UNK]"))
    fitted.normalizer = normalizers.BertNormalizer(lowercase=True)
    fitted.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    fitted.train_from_iterator(TEXTS * 3, trainers.WordPieceTrainer(vocab_size=300, special_tokens=special))
    ends = [(name, fitted.token_to_id(name)) for name in ("[CLS]", "[SEP]")]
    fitted.post_processor = processors.TemplateProcessing(
        single="[CLS] $A [SEP]", pair="[CLS] $A [SEP] $B:1 [SEP]:1", special_tokens=ends
    )
    return transformers.BertTokenizerFast(tokenizer_object=fitted, do_lower_case=True)


def byte_pairs() -> Any:
    """Pairs of bytes, as RoBERTa's."""
    fitted = Tokenizer(models.BPE())
    fitted.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    fitted.decoder = decoders.ByteLevel()
    alphabet = pre_tokenizers.ByteLevel.alphabet()
    fitted.train_from_iterator(
        TEXTS * 3, trainers.BpeTrainer(vocab_size=400, special_tokens=_SPECIAL, initial_alphabet=alphabet)
    )
    fitted.post_processor = processors.RobertaProcessing(("</s>", 2), ("<s>", 0), trim_offsets=True)
    return _fast(fitted)


def unigram() -> Any:
    """Unigram pieces that begin with ▁, as XLM-R's and DeBERTa's."""
    fitted = Tokenizer(models.Unigram())
    fitted.normalizer = normalizers.NFKC()
    fitted.pre_tokenizer = pre_tokenizers.Metaspace()
    fitted.train_from_iterator(
        TEXTS * 3, trainers.UnigramTrainer(vocab_size=200, special_tokens=_SPECIAL, unk_token="<unk>")
    )
    fitted.post_processor = processors.TemplateProcessing(
        single="<s> $A </s>", pair="<s> $A </s> </s> $B </s>", special_tokens=[("<s>", 0), ("</s>", 2)]
    )
    return _fast(fitted)


def _fast(fitted: Tokenizer) -> Any:
    return transformers.PreTrainedTokenizerFast(
        tokenizer_object=fitted,
        bos_token="<s>",
        eos_token="</s>",
        cls_token="<s>",
        sep_token="</s>",
        pad_token="<pad>",
        unk_token="<unk>",
        mask_token="<mask>",
        model_input_names=["input_ids", "attention_mask"],
    )


TOKENIZERS: dict[str, Callable[[], Any]] = {"WordPiece": word_piece, "byte BPE": byte_pairs, "unigram": unigram}
_SIZE = {
    "hidden_size": 32,
    "num_hidden_layers": 3,
    "num_attention_heads": 4,
    "intermediate_size": 48,
    "max_position_embeddings": 512,
}
ARCHITECTURES: dict[str, tuple[str, JsonObject]] = {
    "bert": ("WordPiece", {}),
    "roberta": ("byte BPE", {"max_position_embeddings": 514, "type_vocab_size": 1}),
    "deberta-v2": (
        "unigram",
        {"relative_attention": True, "pos_att_type": ["c2p", "p2c"], "position_buckets": 16, "type_vocab_size": 0},
    ),
    "modernbert": ("byte BPE", {"local_attention": 16, "global_attn_every_n_layers": 2}),
    "electra": ("WordPiece", {"embedding_size": 16}),
    "distilbert": ("WordPiece", {"dim": 32, "n_layers": 3, "n_heads": 4, "hidden_dim": 48}),
    "xlm-roberta": ("unigram", {"max_position_embeddings": 514, "type_vocab_size": 1}),
}
"""By architecture its tokeniser and what its configuration has beside the sizes."""


def make(folder: Path, architecture: str = "bert", seed: int = 0, **settings: Any) -> Path:
    """Write a model with random weights into a folder. ``settings`` are its configuration's."""
    kind, own = ARCHITECTURES[architecture]
    tokenizer = TOKENIZERS[kind]()
    values = {
        "vocab_size": len(tokenizer),
        "pad_token_id": tokenizer.pad_token_id,
        "cls_token_id": tokenizer.cls_token_id,
        "sep_token_id": tokenizer.sep_token_id,
        "id2label": dict(enumerate(LABELS)),
        "label2id": {label: number for number, label in enumerate(LABELS)},
        "initializer_range": 0.3,
    }
    torch.manual_seed(seed)
    config = transformers.AutoConfig.for_model(architecture, **{**_SIZE, **values, **own, **settings})
    model = transformers.AutoModelForSequenceClassification.from_config(config)
    model.save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return folder


POOLED = {"mean": "pooling_mode_mean_tokens", "cls": "pooling_mode_cls_token", "max": "pooling_mode_max_tokens"}


def make_tower(folder: Path, pooling: str = "mean", dense: int = 0, normalised: bool = True, seed: int = 0) -> Path:
    """Write a model of single texts with random weights in sentence-transformers' layout, the transformer in a folder
    of its own. ``dense``: numbers of a layer more, 0 for none."""
    kinds = ["Transformer", "Pooling", *["Dense"] * bool(dense), *["Normalize"] * normalised]
    home = folder / "0_Transformer"
    make(home, "bert", seed)
    transformers.AutoModel.from_pretrained(home, add_pooling_layer=False).save_pretrained(home)
    (home / "sentence_bert_config.json").write_text('{"max_seq_length": 64}')
    for number, kind in enumerate(kinds[1:], start=1):
        (folder / f"{number}_{kind}").mkdir()
    (folder / "1_Pooling/config.json").write_text(json.dumps({key: how == pooling for how, key in POOLED.items()}))
    if dense:
        weights = {"linear.weight": torch.randn(dense, 32), "linear.bias": torch.randn(dense)}
        save_file(weights, folder / "2_Dense/model.safetensors")
        config = {"in_features": 32, "out_features": dense, "activation_function": "torch.nn.modules.activation.Tanh"}
        (folder / "2_Dense/config.json").write_text(json.dumps(config))
    steps = [
        {"idx": number, "name": str(number), "path": f"{number}_{kind}", "type": f"sentence_transformers.models.{kind}"}
        for number, kind in enumerate(kinds)
    ]
    (folder / "modules.json").write_text(json.dumps(steps))
    return folder
