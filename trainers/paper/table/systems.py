"""The systems in the AttConv paper's results tables, and those that are not run here."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from core.card import Card

GRAPH = "needs an Open IE graph of each sentence"
RETRIEVAL = "no retrieval here: gold evidence alone, without page ids, so the FEVER score cannot be computed"


class System(NamedTuple):
    """One line of a table. ``settings``: architecture settings that distinguish systems; ``judged``: the role that is
    read if only one text is; ``why``: the reason it is not run here."""

    name: str
    paper: float | None = None
    architecture: str = ""
    settings: Mapping[str, Any] = {}
    judged: str = ""
    why: str = ""
    baseline: str = ""
    """Its name in the table of baselines, if it has no network."""

    def made(self, card: Card) -> bool:
        """Whether a run belongs to this system."""
        config, roles = card["config"], card["roles"]
        same = all(config.get(key) == value for key, value in self.settings.items())
        return bool(self.architecture == card["architecture"] and same and self.judged in ("", roles["judged"]))


class PaperTable(NamedTuple):
    """A table in the paper. ``of``: the data of the paper's column; ``titles``: titles in docs/results.md, by the
    recipe with which its systems are trained."""

    of: str
    titles: Mapping[str, str]
    systems: tuple[System, ...]


_EXTRA, _EACH = {"context": "extra"}, {"context": "each"}
_INTRA, _NONE = {"context": "intra"}, {"context": "none"}
_BOTH = {"attention": "both", "means": True}
_COMPARE = {"compare": True}
"""The paper does not state how its classifier combines two sentence vectors; a linear classifier over the two alone
does not reach its figures."""

TABLES: dict[str, PaperTable] = {
    "nli": PaperTable(
        "SNLI test, trained on all of SNLI",
        {"comparison-nli": "**One context: entailment** (the paper’s table 7)."},
        (
            System("majority class", 34.3, baseline="majority class"),
            System("n-gram overlap", None, baseline="n-gram overlap"),
            System("TF-IDF, MLP", None, baseline="TF-IDF, MLP"),
            System("w/o context", 68.7, "attconv-light", _NONE),
            System("Bi-LSTM", 77.6, "bi-lstm", _EXTRA | _COMPARE),
            System("Bi-CNN", 80.3, "bi-cnn", _EXTRA | _COMPARE),
            System("Attentive-LSTM", 83.5, "attentive-lstm"),
            System("ABCNN-1", None, "abcnn", {"attention": "words"} | _COMPARE),
            System("ABCNN-2", None, "abcnn", {"attention": "states", "means": True} | _COMPARE),
            System("ABCNN (3)", 83.7, "abcnn", _BOTH | _COMPARE),
            System("APCNN", 83.9, "apcnn", _COMPARE),
            System("AttConv light", 86.3, "attconv-light", _EXTRA),
            System("AttConv w/o convolution", 84.9, "attconv-feedforward", _EXTRA),
            System("Decomposable Attention", 86.8, "decomposable", {"intra": False}),
            System("Decomposable Attention, intra-sentence", None, "decomposable", {"intra": True}),
            System("AttConv advanced", 87.8, "attconv-advanced", _EXTRA),
            System("Enhanced LSTM (ESIM)", 88.6, "esim"),
            System("DGEM", None, why=GRAPH),
        ),
    ),
    "sentiment": PaperTable(
        "Yelp test, trained on 500,000 reviews",
        {
            "comparison-sst5": "**No extra context: sentiment of sentences** (the paper’s table 3, on Yelp).",
            "comparison-imdb": "**No extra context: sentiment of reviews** (the paper’s table 3, on Yelp). Networks "
            "read the first 200 words of a review, TF-IDF reads all, and pairs of words.",
        },
        (
            System("TF-IDF, linear SVM", None, baseline="TF-IDF, linear SVM"),
            System("Paragraph vector", 58.43, why="needs gensim"),
            System("Bi-LSTM", 61.99, "bi-lstm", _NONE),
            System("CNN", 62.05, "bi-cnn", _NONE),
            System("MultichannelCNN", 64.62, "multichannel-cnn", _NONE),
            System("CNN + internal attention", 61.43, "internal-attention-cnn", _NONE),
            System("ABCNN", 61.36, "abcnn", _INTRA | _BOTH),
            System("APCNN", 61.98, "apcnn", _INTRA),
            System("Attentive-LSTM", 63.11, "attentive-lstm", _INTRA),
            System("Structured self-attention", 64.21, "self-attention", _NONE),
            System("AttConv light", 66.75, "attconv-light", _INTRA),
            System("AttConv w/o convolution", 61.34, "attconv-feedforward", _INTRA),
            System("AttConv advanced", 67.36, "attconv-advanced", _INTRA),
        ),
    ),
    "fever": PaperTable(
        "FEVER dev, gold evidence",
        {"comparison-fever": "**Several contexts: claims** (the paper’s table 9)."},
        (
            System("majority class", None, baseline="majority class"),
            System("TF-IDF, MLP", 65.13, baseline="TF-IDF, MLP"),
            System("claim alone", None, "attconv-light", _NONE, "claim"),
            System("evidence alone", None, "attconv-light", _NONE, "evidence"),
            System("Bi-CNN", 75.02, "bi-cnn", _EXTRA | _COMPARE),
            System("APCNN", 78.91, "apcnn", _COMPARE),
            System("ABCNN", 77.13, "abcnn", _BOTH | _COMPARE),
            System("Attentive-LSTM", 78.44, "attentive-lstm"),
            System("Decomposable Attention", 80.82, "decomposable", {"intra": False}),
            System("AttConv light, context-wise", 83.20, "attconv-light", _EACH),
            System("AttConv light, context-wise, w/o convolution", 73.18, "attconv-feedforward", _EACH),
            System("AttConv light, context-conc", 84.74, "attconv-light", _EXTRA),
            System("AttConv light, context-conc, w/o convolution", 73.44, "attconv-feedforward", _EXTRA),
            System("AttConv advanced, context-wise", 84.99, "attconv-advanced", _EACH),
            System("AttConv advanced, context-conc", 86.02, "attconv-advanced", _EXTRA),
            System("all systems on retrieved evidence (ALL, SUB)", None, why=RETRIEVAL),
        ),
    ),
}
"""Tables 7, 3 and 9 of Yin & Schütze 2018, accuracies in per cent."""
