"""Filters generated from a text: ACNN and AdaQA (Shen et al. 2018)."""

from core.models.acnn.pair import AdaQA
from core.models.acnn.single import ACNN

__all__ = ["ACNN", "AdaQA"]
