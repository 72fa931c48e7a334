"""The author's own text of a 20 Newsgroups post: without header, signature and quoted posts.

The header, the signature and who is quoted give the group away. The rules are those of scikit-learn's
``fetch_20newsgroups(remove=("headers", "footers", "quotes"))``, so that scores can be compared; like these they take a
short post's last paragraph for a signature.
"""

from __future__ import annotations

import re

_QUOTED = re.compile(r"writes in|writes:|wrote:|says:|said:|^In article|^Quoted from|^\||^>")
_SUBJECT = re.compile(r"^Subject:", re.MULTILINE)


def is_post(text: str) -> bool:
    """True when a header with a subject comes before the first empty line."""
    header, gap, _ = text.partition("\n\n")
    return bool(gap and _SUBJECT.search(header))


def body(post: str) -> str:
    """The post without header, signature and quotes; empty when it has nothing else."""
    lines = post.partition("\n\n")[2].strip().split("\n")
    # The signature is what follows the last line that is empty or made of hyphens.
    ends = [at for at, line in enumerate(lines) if at and not line.strip().strip("-")]
    unsigned = lines[: ends[-1]] if ends else lines
    return "\n".join(line for line in unsigned if not _QUOTED.search(line)).strip()
