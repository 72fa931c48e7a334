"""Why a verdict: what it loses when a word or a link of attention is taken away.

why(checkpoint, "Three girls play", "Two girls play").strongest
"""

from core.effects.why import METHODS, why

__all__ = ["METHODS", "why"]
