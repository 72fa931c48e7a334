"""“not” is only offered where English allows it."""

import pytest

from core.linguistics.negation import negatable
from core.reading.tokens import tokenize


@pytest.mark.parametrize(
    ("text", "after"),
    [
        ("The cat chases the dog", ""),
        ("A man is playing a guitar on a stage", "is"),
        ("The film is a comedy", "is"),
        ("They're happy", "'re"),
        ("Two dogs were running and a cat was asleep", "were was"),
        ("A girl can swim", "can"),
        ("He opens a can of beans", ""),
        ("The man did a trick and she had a dog", ""),
        ("The man has eaten and she had been there", "has had"),
        ("She will be late", "will"),
        ("A man is not playing a guitar", ""),
        ("The dog isn't outside", ""),
        ("how big is Auburndale Florida", ""),
        ("Is the cat outside", ""),
        ("The cat is outside ?", ""),
        ("The cat is , outside", ""),
        ("", ""),
    ],
)
def test_not_is_offered_only_after_an_auxiliary(text, after):
    words = [token.text for token in tokenize(text)]
    assert [words[i - 1] for i in negatable(words)] == after.split()
