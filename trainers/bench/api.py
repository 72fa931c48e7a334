"""Speed of the running app's HTTP API: what one client waits for while others keep the server busy."""

from __future__ import annotations

import itertools
import statistics
import tempfile
import time
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import psutil

from trainers.bench.app import APP, MODEL, pairs, server
from trainers.bench.client import asked, seconds_until_answered
from trainers.bench.models import Measurement, Unmeasured

BUSY = "made-up-bert"
WORDS_A_SIDE = 210


def shared(quick: bool) -> list[Measurement]:
    """Word effects for a third client while two tabs request them for 210 + 210 words from an external model with 12
    layers, 12 heads and a width of 768; and how long the server keeps computing after both have left."""
    rounds, texts = 2 if quick else 10, pairs()
    with tempfile.TemporaryDirectory() as folder:
        words = _make_model(Path(folder, BUSY))
        settings = {"PAIRLENS_CHECKPOINTS": folder, "PAIRLENS_MEMORY_MB": "2000"}
        with server(APP, **settings, PAIRLENS_DESK=folder, PAIRLENS_DB="") as own, ExitStack() as tabs:

            def third() -> float:
                first, second = next(texts)
                return seconds_until_answered(
                    own.address, "why", {"model": MODEL, "first": first, "second": second}, "third"
                )

            alone = [third() for _ in range(rounds + 1)][1:]
            for tab in range(2):
                text = " ".join(itertools.islice(itertools.cycle(words), tab, tab + WORDS_A_SIDE))
                body = {"model": BUSY, "first": text, "second": text}
                first_line = tabs.enter_context(asked(own.address, "why", body, f"tab {tab}")).readline()
                if b"progress" not in first_line:
                    raise Unmeasured(first_line.decode()[:200])
            time.sleep(10)  # past the texts' preparation, into the model's passes
            busy = [third() for _ in range(rounds)]
            tabs.close()
            still = _seconds_computing(own.process.pid)
    note = f"{statistics.median(busy):.2f} s; alone {statistics.median(alone):.2f} s"
    ratio = statistics.median(busy) / statistics.median(alone)
    return [
        Measurement("api: a third client's word effects while two compute, by those alone", ratio, "x", 2, note=note),
        Measurement("api: computing after both have left", still, "s", 2),
    ]


def _seconds_computing(pid: int) -> float:
    """How long a process still uses a tenth of a processor or more."""
    process, started = psutil.Process(pid), time.perf_counter()
    while process.cpu_percent(0.2) > 10:
        pass
    return max(0.0, time.perf_counter() - started - 0.2)


def _make_model(folder: Path) -> list[str]:
    """Write a BERT of the usual size with random weights into a folder, and return the words that it knows."""
    import transformers
    from tokenizers import Tokenizer, models, pre_tokenizers, processors

    words = sorted({word.lower() for text, _ in pairs() for word in text.split()})
    special = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
    fitted = Tokenizer(models.WordLevel({word: n for n, word in enumerate([*special, *words])}, unk_token="[UNK]"))
    fitted.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    fitted.post_processor = processors.TemplateProcessing(
        single="[CLS] $A [SEP]", pair="[CLS] $A [SEP] $B:1 [SEP]:1", special_tokens=[("[CLS]", 2), ("[SEP]", 3)]
    )
    names = dict(zip(("pad_token", "unk_token", "cls_token", "sep_token", "mask_token"), special, strict=True))
    classes = dict(enumerate(("entailment", "neutral", "contradiction")))
    config = transformers.BertConfig(id2label=classes, label2id={name: n for n, name in classes.items()})
    transformers.BertForSequenceClassification(config).save_pretrained(folder)
    tokenizer: Any = transformers.PreTrainedTokenizerFast
    tokenizer(tokenizer_object=fitted, **names).save_pretrained(folder)
    return words
