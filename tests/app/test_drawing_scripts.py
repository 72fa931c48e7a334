"""What the scripts work out before they draw: where scales end, which bars are drawn, and the ways of ribbons."""

import json
from pathlib import Path

import pytest

from app import components, panels
from app.components.bundle import bundle
from app.panels.panel import scale_end
from tests.app.conftest import SCALES

COLOURS = Path(components.__file__).with_name("colours.js")
RIBBONS = Path(components.__file__).with_name("ribbon_paths.js")
BARS = Path(panels.__file__).parent / "effects" / "bars.js"
HEIGHT = 20


@pytest.fixture
def called(tmp_path, run_script):
    """What an exported function of a script gives for each list of arguments."""

    def call(script, name, *calls):
        entry = tmp_path / "entry.js"
        entry.write_text(
            f'import {{ {name} }} from "{script}";\n'
            f"export default JSON.stringify({json.dumps(calls)}.map((call) => {name}(...call)));\n"
        )
        return json.loads(run_script(bundle(entry, [script], SCALES)))

    return call


def test_even_weights_are_not_painted_brightest(called):
    even, peaked, single = [0.1] * 10, [0.91] + [0.01] * 9, [1.0, 1.0]
    ends = called(COLOURS, "scaleEnd", [even, 1], [peaked, 1], [single, 1], [[15, 15]], [[], 1])
    assert ends == pytest.approx([0.2, 0.91, 1, 30, 1e-9])
    python = [scale_end(even, 1), scale_end(peaked, 1), scale_end(single, 1), scale_end([15, 15]), scale_end([], 1)]
    assert ends == pytest.approx(python), "the pages that work it out themselves have the same scale"


def test_an_even_map_is_drawn_in_the_middle_of_its_scale(with_values):
    map_of = {"scores": [], "none": None, "show": "weight", "of": "", "units": "words"}
    even = with_values(map_of | {"weights": [[0.25] * 4] * 3})
    assert (even["low"], even["high"]) == (0, 0.5)
    column = with_values(map_of | {"weights": [[0.25] * 4] * 3, "show": "column"})
    assert (column["low"], column["high"]) == (0, pytest.approx(2 / 3))


def test_effects_too_small_to_mean_anything_have_no_bar(called):
    cases = [[0.049, "log p"], [-0.05, "log p"], [0.3, "score"], [0.001, "score"], [0.0004, "norm"]]
    assert called(BARS, "drawn", *cases) == [False, True, True, False, True]
    words = [{"effect": 0.01, "spread": 0.9}, {"effect": None, "spread": None}]
    (small,) = called(BARS, "rangeOf", [words, "log p"])
    assert (small["known"], small["bars"]) == (True, False), "numbers, and no axis for bars that are not there"
    (all_known,) = called(BARS, "rangeOf", [[{"effect": 2, "spread": 0.5}, *words], "log p"])
    assert (all_known["low"], all_known["high"], all_known["bars"]) == (0, 2.5, True)


def test_the_numbers_of_an_axis_do_not_lie_on_each_other(called):
    wide, narrow = called(BARS, "ticksOf", [{"low": -2, "high": 2}], [{"low": -0.1, "high": 14}])
    assert [(tick["at"], tick["text"]) for tick in wide] == [(0, "\u22122.00"), (0.5, "0.00"), (1, "+2.00")]
    assert [tick["text"] for tick in narrow] == ["0.00", "+14"]


def lines(*counts, top=0):
    """Shapes of words of 50 pixels in lines of so many words, 30 pixels apart."""
    return [
        {"top": y, "bottom": y + HEIGHT, "left": 60 * place, "width": 50}
        for y, count in zip(range(top, top + 30 * len(counts), 30), counts, strict=True)
        for place in range(count)
    ]


def points(path):
    """Corners of a path; of a curve, points along it."""
    out = []
    for command in path.replace("M", "|M").replace("L", "|L").replace("C", "|C").split("|")[1:]:
        numbers = [tuple(map(float, pair.split(","))) for pair in command[1:].split()]
        if command[0] != "C":
            (x, y), (px, py) = numbers[0], out[-1] if out else numbers[0]
            out += [(px + (x - px) * i / 50, py + (y - py) * i / 50) for i in range(51)]
        else:
            ends = [out[-1], *numbers]
            for i in range(51):
                t = i / 50
                parts = ((1 - t) ** 3, 3 * t * (1 - t) ** 2, 3 * t**2 * (1 - t), t**3)
                out.append(tuple(sum(p * end[axis] for p, end in zip(parts, ends, strict=True)) for axis in (0, 1)))
    return out


@pytest.mark.parametrize(
    ("upper", "lower"), [((5,), (4,)), ((5, 2), (4,)), ((5, 5, 1), (5, 3)), ((1, 5, 5), (2, 5, 5))]
)
def test_a_ribbon_never_runs_behind_the_words_of_another_line(called, upper, lower):
    above = lines(*upper)
    below = lines(*lower, top=30 * len(upper) + 40)
    frames = [{"top": side[0]["top"], "bottom": side[-1]["bottom"], "right": 320} for side in (above, below)]
    origin = {"top": 0, "left": 0}
    ends = called(RIBBONS, "rowsOf", [above, frames[0], True, origin], [below, frames[1], False, origin])
    for one in ends[0]:
        for path in called(RIBBONS, "routeOf", *[[one, other] for other in ends[1]]):
            for x, y in points(path):
                assert not any(
                    word["left"] < x < word["left"] + word["width"] and word["top"] < y < word["bottom"]
                    for word in (*above, *below)
                ), path


def test_a_ribbon_to_a_word_that_is_scrolled_away_ends_at_its_frame(called):
    words = lines(5, 5, 5, 5)
    frame = {"top": 30, "bottom": 80, "right": 320}
    (ends,) = called(RIBBONS, "rowsOf", [words, frame, True, {"top": 0, "left": 0}])
    assert all(30 <= end["y"] <= 80 for end in ends)
    assert [end["beside"] is None for end in ends] == [False] * 10 + [True] * 10
