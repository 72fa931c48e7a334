"""The numbers of layers and heads in a configuration of Hugging Face's library."""

from __future__ import annotations

from core.json_types import JsonMapping

_LAYERS = ("encoder_layers", "num_hidden_layers", "n_layers", "n_layer", "num_layers")
_HEADS = ("encoder_attention_heads", "num_attention_heads", "n_heads", "n_head", "num_heads")


def sizes_of(config: JsonMapping) -> tuple[int, int]:
    """The numbers of layers and heads in a configuration, 0 where missing: only loading the model makes them
    certain."""
    layers, heads = (
        next((config[name] for name in names if config.get(name) is not None), 0) for names in (_LAYERS, _HEADS)
    )
    return layers, heads
