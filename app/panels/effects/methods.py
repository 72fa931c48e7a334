"""The ways to ask what a word does, in words: how each goes, and what it cannot tell."""

from __future__ import annotations

from dataclasses import dataclass

from core.effects import METHODS, gradients
from core.effects.nudges import STEP
from core.effects.why import MIX
from core.effects.words import DRAWING, DROPPED, FREQUENT, NUDGED, PARTNER, RELATED, TAKEN_AWAY, Drawing
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
    FREQUENT: "Replaced by frequent words",
    RELATED: "Replaced by related words",
    NUDGED: "Nudged",
    PARTNER: "Replaced by its partner",
    gradients.ZEROED: "Its vector set to zero",
    gradients.NORM: "Length of the gradient",
    gradients.TIMES_INPUT: "Gradient × input",
    gradients.INTEGRATED: "Integrated gradients",
}
_HIDDEN = "Two words that say the same hide each other: without one the other still says it, and both have short bars"
_CANNOT = {
    TAKEN_AWAY: (
        f"{_HIDDEN}; take both away below. Where the ways disagree, look at each alone. It says which words this "
        "verdict hangs on, not whether for a good reason."
    ),
    DROPPED: (
        "A sentence without a word is often none that anybody would write: a part of the effect is that of broken "
        f"grammar. The only word of a sentence cannot be dropped. {_HIDDEN}."
    ),
    FREQUENT: (
        "A word in its place brings a meaning of its own. Where nearly any other word would change the verdict, as "
        "where two sentences have to agree, every word looks decisive; the spread says how far the drawn words differ."
    ),
    RELATED: (
        "A related word may mean nearly the same, so that nothing changes, or the opposite, so that everything does: "
        "they are words of like sentences. A word that the word table does not know has none, and no bar."
    ),
    NUDGED: (
        "It is the worst that a small step can do, so that it hardly ever opposes; where the step ends there may be no "
        "word. It says what this verdict is sensitive to, which is not always what a person would change."
    ),
    PARTNER: (
        "It trusts the attention that it should examine: the partner is where the word looks most. A word that finds "
        "itself in the other sentence has 0, whatever it does. Where no map has words as rows and columns, it has no "
        "bars."
    ),
    gradients.ZEROED: "No word has a vector of zeros: what a model does with one is in part chance.",
    gradients.NORM: (
        "A length has no sign: it does not say whether the word supports the verdict or opposes it. It is the slope "
        "at this point alone: how the verdict would begin to change, not where it would go."
    ),
    gradients.TIMES_INPUT: (
        "A guess from the slope at this point of what a vector of zeros would do, which is no word. Where the model is "
        "sure of its verdict the slope is flat, and the guess is poor."
    ),
    gradients.INTEGRATED: (
        "The bars add up to log p of the verdict minus that of vectors a thousandth as long, which are no words; nor "
        "are those on the path between, where the model’s choices (of phrases, of a window) stay those of this pair. "
        "Another baseline gives other bars."
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
        FREQUENT: f"the mean over {drawing.frequent} frequent words in its place, the same ones for every word",
        NUDGED: f"its vector moved by {percent(STEP)} of a usual one’s length, the way that costs the verdict most",
        RELATED: f"the mean over {drawing.related} words in its place that stand in similar sentences",
    }


def methods(drawing: Drawing = DRAWING, nudges: bool = True) -> tuple[Method, ...]:
    """All ways, the default one first; without ``nudges`` for a model whose words' vectors cannot be moved."""
    instead = _instead(drawing, nudges)
    return tuple(
        Method(name, _TITLES[name], instead.get(name, how), _CANNOT[name], gradient=name in gradients.METHODS)
        for name, how in METHODS.items()
        if nudges or name != NUDGED
    )
