"""docs/equations.md against the tags in core: every equation is found in one hop, and nothing is said of it in vain."""

import re
import tokenize
from collections import Counter
from pathlib import Path

ROOT = Path(__file__).parents[1]
TAG = re.compile(r"\[(?:[A-Z][a-z]+\d\d|Potts) [^]]+\]")


def listed():
    """Tag -> file, or "not built yet"."""
    rows = re.findall(r"^\| (\[.+?\]) \| .+ \| (.+) \|$", (ROOT / "docs/equations.md").read_text("utf-8"), re.MULTILINE)
    assert len(rows) == len(dict(rows)), "a tag is listed twice"
    return dict(rows)


def tagged():
    """(tag, file) of every tag that ends a line of code; a comment on a separate line computes nothing."""
    for file in sorted((ROOT / "core").rglob("*.py")):
        with tokenize.open(file) as lines:
            for token in tokenize.generate_tokens(lines.readline):
                if token.type == tokenize.COMMENT:
                    for tag in TAG.findall(token.string):
                        assert not token.line.lstrip().startswith("#"), f"{tag} has no code in {file}"
                        yield tag, file.relative_to(ROOT).as_posix()


def test_each_implemented_equation_is_tagged_once_in_its_listed_file():
    built = {tag: file for tag, file in listed().items() if file != "not built yet"}
    assert Counter(tagged()) == Counter(built.items())


def test_the_list_has_every_numbered_equation():
    for paper, count in (("Yin18", 13), ("Yin17", 5), ("Shen18", 7)):
        assert [f"[{paper} eq. {number}]" in listed() for number in range(1, count + 1)] == [True] * count
    assert {"[Yin17 k-min]", "[Yin17 k-max]"} <= listed().keys()
