"""The ways to ask what a word does, in words: how each goes, and what it cannot tell."""

from __future__ import annotations

from dataclasses import dataclass

from core.effects import METHODS, gradients
from core.effects.why import MIX
from core.effects.words import ATTENTION, DRAWING, DROPPED, FREQUENT, NUDGED, RELATED, REPLACED, TAKEN_AWAY, Drawing
from core.wording import percent


@dataclass(frozen=True)
class Method:
    """One way. ``how``: what is done to the word; ``cannot``: what its answer does not say; ``cost``: passes and time,
    of a model whose passes take long; ``gradient``: whether it needs one."""

    name: str
    title: str
    how: str
    cannot: str
    cost: str = ""
    gradient: bool = False


_TITLES = {
    TAKEN_AWAY: "Taken away: several ways together",
    DROPPED: "Dropped",
    REPLACED: "Replaced by other words",
    gradients.NORM: "Length of the gradient",
    gradients.INTEGRATED: "Integrated gradients",
    ATTENTION: "Attention (baseline)",
}
_HIDDEN = "Two words that say the same hide each other: without one the other still says it, and both have short bars"
_CANNOT = {
    TAKEN_AWAY: f"{_HIDDEN}. It says which words this verdict depends on, not whether for a good reason.",
    DROPPED: (
        "A sentence without a word is often ungrammatical, and a part of the effect is due to that. The only word of a "
        f"sentence cannot be dropped. {_HIDDEN}."
    ),
    REPLACED: (
        "Another word brings a meaning of its own. Where two sentences have to agree, nearly any word changes the "
        "verdict, and every word looks decisive; a related word may mean nearly the same, or the opposite. The spread "
        "shows how far the words differ. Out-of-vocabulary words are replaced by frequent words alone."
    ),
    gradients.NORM: (
        "A length has no sign: it does not say whether the word supports the verdict or opposes it. It is the slope "
        "at this point alone: how the verdict would begin to change, not where it would go."
    ),
    gradients.INTEGRATED: (
        "The bars add up to log p of the verdict minus that of vectors a thousandth as long, which are not words; nor "
        "are those on the path between, where the model’s choices (of phrases, of a window) stay those of this pair. "
        "Another baseline gives other bars."
    ),
    ATTENTION: (
        "What a word receives is not what it does: the word that decides is often the one that nothing in the other "
        "sentence matches, and it receives little."
    ),
}


def _instead(drawing: Drawing, nudges: bool) -> dict[str, str]:
    """With the numbers of a drawing, where core's line has none."""
    whole = sum(share for way, share in MIX.items() if nudges or way != NUDGED)
    shares = {way: percent(share / whole) for way, share in MIX.items()}
    parts = [
        f"the mean of dropping it ({shares[DROPPED]})",
        f"of {drawing.frequent} frequent words in its place ({shares[FREQUENT]})",
        f"of {drawing.related} related ones ({shares[RELATED]})",
        *([f"of moving its vector a little ({shares[NUDGED]})"] if nudges else []),
    ]
    return {
        TAKEN_AWAY: f"{', '.join(parts[:-1])} and {parts[-1]}",
        REPLACED: (
            f"the mean over {drawing.frequent} frequent words in its place, the same for every word, and over "
            f"{drawing.related} words of similar sentences"
        ),
    }


def methods(drawing: Drawing = DRAWING, nudges: bool = True) -> tuple[Method, ...]:
    """All methods, the default one first; without ``nudges`` for a model whose words' vectors cannot be moved."""
    instead = _instead(drawing, nudges)
    return tuple(
        Method(name, _TITLES[name], instead.get(name, how), _CANNOT[name], gradient=name in gradients.METHODS)
        for name, how in METHODS.items()
    )
