"""Explaining a verdict: a :class:`Question` about a pair, and its answers.

Question(checkpoint, "Three girls play", "Two girls play").words().strongest
"""

from core.effects.methods import METHODS
from core.effects.question import Question

__all__ = ["METHODS", "Question"]
