"""Explaining a verdict: a :class:`Question` about a pair, and its answers.

Question(checkpoint, "Three girls play", "Two girls play").words().strongest
"""

from core.effects.question import METHODS, Question

__all__ = ["METHODS", "Question"]
