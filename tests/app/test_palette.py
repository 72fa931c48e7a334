"""The colours of the page: contrast of text, and class colours that stay apart for colour-blind eyes and in grey."""

import itertools
import math
import re
import tomllib
from pathlib import Path

import pytest

from app import palette
from app.panels.verdict import percent

# Machado, Oliveira & Fernandes 2009, severity 1.0, on linear RGB.
RGB = re.compile(r"rgb\((\d+),(\d+),(\d+)\)")
VISION = {
    "normal": ((1, 0, 0), (0, 1, 0), (0, 0, 1)),
    "protan": ((0.152286, 1.052583, -0.204868), (0.114503, 0.786281, 0.099216), (-0.003882, -0.048116, 1.051998)),
    "deutan": ((0.367322, 0.860646, -0.227968), (0.280085, 0.672501, 0.047413), (-0.011820, 0.042940, 0.968881)),
    "tritan": ((1.255528, -0.076749, -0.178779), (-0.078411, 0.930809, 0.147602), (0.004733, 0.691367, 0.303900)),
}


def linear(colour):
    channels = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    return [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in channels]


def luminance(colour):
    return sum(w * c for w, c in zip((0.2126, 0.7152, 0.0722), linear(colour), strict=True))


def contrast(one, other):
    low, high = sorted((luminance(one), luminance(other)))
    return (high + 0.05) / (low + 0.05)


def lab(colour, vision):
    seen = [min(1.0, max(0.0, sum(a * b for a, b in zip(row, linear(colour), strict=True)))) for row in VISION[vision]]
    to_xyz = ((0.4339, 0.3762, 0.1899), (0.2126, 0.7152, 0.0722), (0.0177, 0.1095, 0.8728))  # divided by D65's white
    xyz = [sum(a * b for a, b in zip(row, seen, strict=True)) for row in to_xyz]
    x, y, z = (t ** (1 / 3) if t > 0.008856 else 7.787 * t + 16 / 116 for t in xyz)
    return 116 * y - 16, 500 * (x - y), 200 * (y - z)


@pytest.mark.parametrize("theme", [0, 1])
@pytest.mark.parametrize("colour", [palette.COLOURS["ink"], palette.COLOURS["soft"], palette.COLOURS["accent"]])
@pytest.mark.parametrize("ground", [palette.COLOURS["paper"], palette.COLOURS["wash"]])
def test_text_stands_out(colour, ground, theme):
    assert contrast(colour[theme], ground[theme]) >= 4.5


@pytest.mark.parametrize("vision", VISION)
@pytest.mark.parametrize("theme", [0, 1])
def test_classes_stay_apart_for_every_eye(vision, theme):
    for one, other in itertools.combinations(palette.CLASSES.values(), 2):
        assert math.dist(lab(one[theme], vision), lab(other[theme], vision)) >= 20


@pytest.mark.parametrize("vision", VISION)
@pytest.mark.parametrize("theme", [0, 1])
def test_the_poolings_stay_apart_for_every_eye_and_from_the_accent(vision, theme):
    for one, other in itertools.combinations(
        (palette.COLOURS["kmin"], palette.COLOURS["kmax"], palette.COLOURS["accent"]), 2
    ):
        assert math.dist(lab(one[theme], vision), lab(other[theme], vision)) >= 20


@pytest.mark.parametrize("theme", [0, 1])
@pytest.mark.parametrize("colour", [palette.COLOURS["kmin"], palette.COLOURS["kmax"]])
def test_poolings_are_distinct_and_words_stay_readable_on_their_strongest_tint(colour, theme):
    assert contrast(colour[theme], palette.COLOURS["paper"][theme]) >= 3
    share, wash = palette.STRONGEST_TINT, palette.COLOURS["wash"][theme]
    mixed = [
        round(share * int(colour[theme][i : i + 2], 16) + (1 - share) * int(wash[i : i + 2], 16)) for i in (1, 3, 5)
    ]
    assert contrast(palette.COLOURS["ink"][theme], "#" + "".join(f"{channel:02x}" for channel in mixed)) >= 4.5


@pytest.mark.parametrize("theme", [0, 1])
def test_poolings_stay_apart_in_grey(theme):
    assert (
        abs(lab(palette.COLOURS["kmin"][theme], "normal")[0] - lab(palette.COLOURS["kmax"][theme], "normal")[0]) >= 15
    )


@pytest.mark.parametrize("vision", VISION)
def test_colours_of_a_map_stay_apart_for_every_eye_and_stand_out_in_both_themes(vision):
    yes_or_no = {*palette.NO_YES.values(), palette.NEITHER}
    for colours in (palette.MAP_COLOURS[:7], yes_or_no):
        for one, other in itertools.combinations(colours, 2):
            assert math.dist(lab(one, vision), lab(other, vision)) >= 18
        assert all(contrast(colour, ground) >= 3 for colour in colours for ground in palette.COLOURS["paper"])


def test_fourteen_classes_of_a_map_differ_in_colour_and_in_symbol():
    looks = palette.map_look([f"class {i}" for i in range(14)])
    colours, symbols = zip(*looks, strict=True)
    assert len(set(symbols)) == 14
    for accent in palette.COLOURS["accent"]:
        for one, other in itertools.combinations([*colours, accent], 2):
            assert math.dist(lab(one, "normal"), lab(other, "normal")) >= 28
    assert all(contrast(colour, ground) >= 3 for colour in colours for ground in palette.COLOURS["paper"])
    assert len(set(palette.map_look([f"class {i}" for i in range(28)]))) == 28
    assert palette.map_look(["not an answer", "answer", "question"])[2][0] == palette.NEITHER


def test_classes_of_an_unknown_task_differ():
    for count in (2, 3, 4, 5, 14):
        assert len({*palette.class_colours([f"class {i}" for i in range(count)])}) == count


def test_an_answer_has_the_colour_of_a_yes():
    assert palette.class_colours(("not an answer", "answer"))[1] == palette.CLASSES["entailment"]


@pytest.mark.parametrize("theme", [0, 1])
def test_classes_stay_apart_in_grey(theme):
    greys = sorted(lab(colour[theme], "normal")[0] for colour in palette.CLASSES.values())
    assert min(b - a for a, b in itertools.pairwise(greys)) >= 15


@pytest.mark.parametrize("vision", VISION)
@pytest.mark.parametrize("theme", [0, 1])
def test_the_accent_differs_from_all_other_colours(vision, theme):
    for other in (palette.COLOURS["context"], *palette.CLASSES.values()):
        assert math.dist(lab(palette.COLOURS["accent"][theme], vision), lab(other[theme], vision)) >= 20


def test_the_scale_of_weights_rises_evenly_in_lightness():
    light = [lab(colour, "normal")[0] for colour in palette.CIVIDIS]
    steps = [b - a for a, b in itertools.pairwise(light)]
    assert min(steps) > 3
    assert max(steps) < 3 * min(steps)


def test_streamlits_theme_has_the_same_colours():
    config = tomllib.loads((Path(__file__).resolve().parents[2] / ".streamlit" / "config.toml").read_text())["theme"]
    for theme, name in enumerate(("light", "dark")):
        assert config[name]["primaryColor"] == palette.COLOURS["accent"][theme]
        assert config[name]["backgroundColor"] == palette.COLOURS["paper"][theme]
        assert config[name]["textColor"] == palette.COLOURS["ink"][theme]


def test_a_share_has_the_digits_it_deserves():
    shares = [percent(share) for share in (0, 0.0004, 0.046, 0.46, 0.994, 0.996, 0.9996, 1)]
    wanted = ["0 %", "< 0.1 %", "4.6 %", "46 %", "99 %", "99.6 %", "> 99.9 %", "100 %"]
    assert [text.replace("\u00a0", " ") for text in shares] == wanted
