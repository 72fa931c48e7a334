"""Small transformers with random weights, in the folders that Hugging Face's library writes, with tokenisers fitted
here: stand-ins for users' models."""

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
    fitted = Tokenizer(models.WordPiece(unk_token="[UNK]"))
    fitted.normalizer = normalizers.BertNormalizer(lowercase=True)
    fitted.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    # No trainer: it numbers equally frequent pieces differently in each process, and the weights are by number.
    texts = [fitted.normalizer.normalize_str(text) for text in TEXTS]
    words = {word for text in texts for word, _ in fitted.pre_tokenizer.pre_tokenize_str(text)}
    letters = {letter for word in words for letter in word}
    starts = letters | {word[:5] for word in words}
    rests = letters | {word[5:] for word in words} - {""}
    pieces = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", *sorted(starts), *(f"##{rest}" for rest in sorted(rests))]
    fitted.model = models.WordPiece({piece: number for number, piece in enumerate(pieces)}, unk_token="[UNK]")
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
    # Pieces in one order in each process, like word_piece's.
    pieces = json.loads(fitted.to_str())["model"]["vocab"]
    count = len(_SPECIAL)
    pieces = [(piece, round(score, 3)) for piece, score in pieces[:count] + sorted(pieces[count:])]
    fitted.model = models.Unigram(pieces, unk_id=_SPECIAL.index("<unk>"))
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
"""Tokeniser and settings (except sizes) by architecture."""
_ENCODER_DECODER: JsonObject = {
    "d_model": 32,
    "encoder_layers": 3,
    "decoder_layers": 2,
    "encoder_attention_heads": 4,
    "decoder_attention_heads": 2,
    "encoder_ffn_dim": 48,
    "decoder_ffn_dim": 48,
    "decoder_start_token_id": 2,
    "init_std": 0.3,
}
_T5: JsonObject = {"d_model": 32, "d_kv": 8, "d_ff": 48, "num_layers": 3, "num_heads": 4, "decoder_start_token_id": 1}
_GPT: JsonObject = {"n_embd": 32, "n_layer": 3, "n_head": 4, "n_positions": 512}
_GROUPED: JsonObject = {"num_key_value_heads": 2}
ENCODER_DECODERS: dict[str, tuple[str, JsonObject]] = {
    "bart": ("byte BPE", _ENCODER_DECODER),
    "mbart": ("unigram", _ENCODER_DECODER),
    "plbart": ("unigram", _ENCODER_DECODER),
    "bigbird_pegasus": ("unigram", _ENCODER_DECODER),
    "t5": ("unigram", _T5),
    "mt5": ("unigram", _T5),
}
"""Architectures with a decoder."""
OTHERS: dict[str, tuple[str, JsonObject]] = {
    "albert": ("unigram", {"embedding_size": 16}),
    "camembert": ("unigram", {"max_position_embeddings": 514, "type_vocab_size": 1}),
    "mpnet": ("byte BPE", {"max_position_embeddings": 514}),
    "deberta": ("byte BPE", {"relative_attention": True, "pos_att_type": ["c2p", "p2c"]}),
    "xlnet": ("unigram", {"d_model": 32, "n_layer": 3, "n_head": 4, "d_inner": 48}),
    "xlm": ("unigram", {"emb_dim": 32, "n_layers": 3, "n_heads": 4}),
    "funnel": ("WordPiece", {"d_model": 32, "block_sizes": [1, 1], "n_head": 4, "d_head": 8, "d_inner": 48}),
    "convbert": ("WordPiece", {"embedding_size": 32}),
    "fnet": ("WordPiece", {}),
    "squeezebert": ("WordPiece", {"embedding_size": 32}),
    "rembert": ("unigram", {"input_embedding_size": 16, "output_embedding_size": 16}),
    "roformer": ("WordPiece", {}),
    "layoutlm": ("WordPiece", {}),
    "longformer": ("byte BPE", {"max_position_embeddings": 514, "attention_window": 8}),
    "big_bird": ("unigram", {}),
    "mobilebert": ("WordPiece", {"embedding_size": 16, "intra_bottleneck_size": 16, "true_hidden_size": 16}),
    "nystromformer": ("unigram", {"num_landmarks": 8, "segment_means_seq_len": 8}),
    "ibert": ("byte BPE", {"max_position_embeddings": 514}),
    "gpt2": ("byte BPE", _GPT),
    "openai-gpt": ("byte BPE", _GPT),
    "opt": ("byte BPE", {"ffn_dim": 48, "word_embed_proj_dim": 32}),
    "bloom": ("byte BPE", {"n_layer": 3, "n_head": 4}),
    "llama": ("byte BPE", _GROUPED),
    "mistral": ("byte BPE", _GROUPED),
    "qwen2": ("byte BPE", _GROUPED),
    "gemma2": ("byte BPE", {**_GROUPED, "head_dim": 8}),
}
"""More architectures, with bidirectional or causal attention."""
_OWN_SIZES = {"xlnet": ("max_position_embeddings",), "funnel": ("num_hidden_layers",)}
"""Environment variables that must be unset."""


def make(folder: Path, architecture: str = "bert", seed: int = 0, **settings: Any) -> Path:
    """Write a model with random weights into a folder. ``settings`` are its configuration's."""
    kind, own = (ARCHITECTURES | ENCODER_DECODERS | OTHERS)[architecture]
    tokenizer = TOKENIZERS[kind]()
    values = {
        "vocab_size": len(tokenizer),
        "pad_token_id": tokenizer.pad_token_id,
        "cls_token_id": tokenizer.cls_token_id,
        "sep_token_id": tokenizer.sep_token_id,
        "bos_token_id": tokenizer.cls_token_id,
        "eos_token_id": tokenizer.sep_token_id,
        "id2label": dict(enumerate(LABELS)),
        "label2id": {label: number for number, label in enumerate(LABELS)},
        "initializer_range": 0.3,
    }
    torch.manual_seed(seed)
    named = {**_SIZE, **values, **own, **settings}
    named = {name: value for name, value in named.items() if name not in _OWN_SIZES.get(architecture, ())}
    config = transformers.AutoConfig.for_model(architecture, **named)
    model = transformers.AutoModelForSequenceClassification.from_config(config)
    model.save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return folder


POOLED = {"mean": "pooling_mode_mean_tokens", "cls": "pooling_mode_cls_token", "max": "pooling_mode_max_tokens"}


def make_tower(folder: Path, pooling: str = "mean", dense: int = 0, normalised: bool = True, seed: int = 0) -> Path:
    """Write a model of single texts with random weights in sentence-transformers' layout, the transformer in a
    subfolder. ``dense``: width of an additional layer, 0 for none."""
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
