"""Rebuilds the numbers of evidence records from the words they name, by the slow loops of tests.loops.

Words are looked up by their text, never by the model's positions, so a record that names a neighbour of the right word
does not match. Every word therefore occurs only once in a sentence of these tests.
"""

import csv
import io
import itertools

import pytest
import torch

from core.evidence.attention_map import FINAL_STATE, NO_WORD
from core.evidence.edges import edge_words
from core.explain import nearest_to_context
from core.reading.tokens import tokenize
from tests.loops import LOOPS
from tests.loops.arithmetic import cosine, dot
from tests.loops.phrases import phrases as read_phrases
from tests.rebuilders import REBUILDERS

ELSEWHERE = {
    "attention_heads": "tests/external/test_guest_answers.py",
    "similarity_shares": "tests/external/test_similarity_shares.py",
    "effects": "tests/test_effects.py",
    "faithfulness": "tests/test_faithfulness.py",
}
"""Records that no architecture here returns, with the tests that rebuild them."""


def near(expected):
    """Within what float32 allows, also with the large weights of an adapted classifier."""
    return pytest.approx(expected, rel=1e-4, abs=3e-5)


def rows_of(ours, expected):
    """Whether two matrices are near each other."""
    return [*map(list, ours)] == [near([*row]) for row in expected]


class Rebuilt:
    """An explanation's pair, read once more by the slow loop of its architecture."""

    def __init__(self, checkpoint, explanation):
        self.checkpoint, self.explanation, self.model = checkpoint, explanation, checkpoint.model
        roles = [side.role for side in (explanation.first, *explanation.contexts)]
        self.sides = dict(zip(roles, ("first", "second"), strict=False))
        self.judged = "second" if explanation.judged == "both" else self.sides[explanation.judged]
        self.words = {side: [token.text for token in explanation.sentence(role).tokens] for role, side in
                      self.sides.items()}  # fmt: skip
        assert all(len({*words}) == len(words) for words in self.words.values()), "a word stands twice"
        second = self.words.get("second", [])
        apart = self.model.reads(checkpoint.card["config"]).lines and self.judged == "first"
        starts = explanation.second.line_starts if apart else (0,)
        lines = [second[i:j] for i, j in itertools.pairwise((*starts, len(second)))] if second else []
        extra = checkpoint.read(explanation.first.text, explanation.second.text).extra
        self.texts = self.vectors(self.words["first"]), [self.vectors(line) for line in lines]
        self.extra = None if extra is None else [*extra]
        self.loop = LOOPS[self.model.spec.name](self.model, *self.texts, self.judged, self.extra)
        self.records = self.loop.get("records", {})
        self.maps = iter(self.records.get("maps", ()))

    def vectors(self, words):
        """The vectors of these words, each read alone."""
        return torch.stack([self.checkpoint.reader.vectors([tokenize(word)[0].norm])[0] for word in words])

    def check(self, record):
        """Fails unless this record of the explanation has the loop's numbers for the words it names."""
        own = getattr(self, f"_{record.kind}", None)
        own(record) if own else REBUILDERS[record.kind](self, record)
        if record.tabular:
            self._table(record, [*csv.DictReader(io.StringIO(record.to_csv(self.explanation)))])

    def _table(self, record, lines):
        """The table's positions match its words, and its shares add up to the logits."""
        for line in lines:
            for role, side in self.sides.items():
                place = line.get(f"{role}_position")
                if place and line[f"{role}_word"] == FINAL_STATE:
                    assert int(place) == len(self.words[side])
                elif place:
                    assert self.words[side][int(place) - 1] == line[f"{role}_word"]
            if line.get("ngram"):
                words, f = self.words[self.sides[record.rows]], record.filters[int(line["filter"])]
                assert int(line["position"]) == f.position + 1 and line["ngram"] == " ".join(words[slice(*f.window)])
            if "first_word" in line:
                words = self.words[self.sides[line["side"]]]
                assert line["phrase"] == " ".join(words[int(line["first_word"]) - 1 : int(line["last_word"])])
        for label, logit in zip(self.explanation.labels, self.explanation.logits, strict=True):
            if f"share_{label}" in lines[0]:
                assert sum(float(line[f"share_{label}"]) for line in lines) == pytest.approx(logit, abs=1e-4)

    def _names(self, record, role):
        """The text of each unit along an edge of a map."""
        words = self.words[self.sides[role]]
        if record.units == "windows":
            width = self.model.config.width
            return [" ".join(words[i : i + width]) for i in range(max(1, len(words) - width + 1))]
        if record.units == "phrases":
            return [" ".join(words[slice(*span)]) for span, _ in self.records["phrases"][self.sides[role]]]
        return [FINAL_STATE] if record.units == FINAL_STATE and role == record.rows else words

    def finish(self):
        """Fails if the explanation has fewer records than the loop tells of."""
        assert not [*self.maps]
        shown = [record.kind for record in self.explanation.evidence]
        assert shown.count("filter_provenance") == len(self.records.get("filters", ()))
        assert shown.count("generated_filters") == len(self.records.get("generated", ()))
        assert shown.count("pooled_attention") == len(self.records.get("pooled", ()))

    def _attention_map(self, record):
        edges = [self._names(record, role) for role in (record.rows, record.columns)]
        edges[1] = edges[1] + [NO_WORD] * bool(record.null)
        shape = tuple(map(len, edges))
        told = edge_words(record.rows, record.columns, record.units, bool(record.null), shape, self.explanation)
        assert [*map(list, told)] == edges
        if record.units == "phrases":
            rows, columns = (self.records["phrases"][self.sides[role]] for role in (record.rows, record.columns))
            assert rows_of(record.scores, [[cosine(a, b) for _, b in columns] for _, a in rows])
            return
        rows, columns, scores, weights = next(self.maps)
        assert (self.sides[record.rows], self.sides[record.columns]) == (rows, columns)
        assert rows_of(record.override, weights) and (record.reach or rows_of(record.scores, scores))
        for (start, end), row in zip(record.reach, weights, strict=bool(record.reach)):
            assert [start <= j < end for j in range(len(row))] == [weight > 0 for weight in row]
        if record.crossed_by is not None:
            own = self.records["crossed_by"][0 if rows == "second" else 1]
            assert rows_of(record.crossed_by, own)
            assert [*record.crossings] == near([sum(row) / max(1, len(own) - 1) for row in own])

    def _attentive_context(self, record):
        found = [one for one in self.explanation.evidence if one.kind == "attention_map"]
        (weights,) = [one.weights for one in found if (one.rows, one.columns) == (record.rows, record.columns)]
        assert record.weights == weights  # the map's own are rebuilt above
        table, vectors = self.checkpoint.words, self.vectors(self.words[self.sides[record.columns]])
        for row in (0, len(weights) - 1):
            mix = (torch.tensor(weights[row])[:, None] * vectors).sum(0)
            cosines = torch.cosine_similarity(table.vectors(table.words), mix[None]).tolist()
            best = sorted(zip(cosines, table.words, strict=True), reverse=True)
            told = nearest_to_context(self.checkpoint, self.explanation, row, record.rows)
            assert [*told.nearest] == [word for _, word in best[: len(told.nearest)]] and told.nearest
            assert [*told.similarity] == near([value for value, _ in best[: len(told.nearest)]])

    def _filter_provenance(self, record):
        side = self.sides[record.rows]
        each, words = self.records["filters"][side], self.words[side]
        assert self.sides.get(record.made_from, "") == each[0]["made_from"] and record.contexts == len(each)
        for f in record.filters:
            own = each[f.beside or 0]
            state, weights = dict(zip(words, own["states"], strict=True)), own["weights"][f.index]
            start = f.position - record.width // 2 if own["centred"] else f.window[0]
            named, at = words[slice(*f.window)], max(0, -start)  # the window's words before the sentence
            assert named and f.window == (max(0, start), min(len(words), start + record.width))
            assert f.position == min(start + record.width // 2, len(words) - 1)
            parts = [0.0] * record.width
            parts[at : at + len(named)] = [
                dot(row, state[word]) for row, word in zip(weights[at:], named, strict=False)
            ]  # fmt: skip
            half = record.width // 2
            assert [*f.offsets] == near(parts)
            assert (f.left, f.self_, f.right) == near((sum(parts[:half]), parts[half], sum(parts[half + 1 :])))
            context = own["context"] and dict(zip(words, own["context"], strict=True))[words[f.position]][f.index]
            assert (f.context, f.bias) == near((context or 0.0, own["bias"][f.index]))
            assert f.preactivation == near(sum(parts) + (context or 0.0) + own["bias"][f.index])
            assert f.preactivation == near(max(max(_values(one, f.index, record.width)) for one in each))
            assert [*f.logit_shares] == near([*own["shares"][f.index]] if own["shares"] else [])
            if record.compared:
                terms = dict(zip(words, own["compared"], strict=True))[words[f.position]][f.index]
                assert [*record.compared[f.index]] == near(terms)

    def _filter_products(self, record):
        assert rows_of(record.products, self.records["products"])
        assert [*record.linguistic] == near(self.records["linguistic"])

    def _generated_filters(self, record):
        code, bank = self.records["generated"][self.sides[record.made_from]]
        assert [*record.code] == near(code)
        assert all(itertools.starmap(rows_of, zip(record.bank, bank, strict=True)))
        applied = [one for one in self.explanation.evidence if one.kind == "filter_provenance"]
        assert record.made_from in [one.made_from for one in applied if one.rows == record.applied_to]

    def _pooled_attention(self, record):
        assert [*record.weights] == near(self.records["pooled"][self.sides[record.role]])

    def _phrase_selection(self, record):
        found = {side: dict(of_text) for side, of_text in self.records["phrases"].items()}
        for side, other in (record.sides, record.sides[::-1]):
            ours, theirs = found[self.sides[side.role]], found[self.sides[other.role]]
            assert [phrase.span for phrase in side.phrases] == [*ours]
            for phrase in side.phrases:
                partner = other.phrases[phrase.partner].span
                assert phrase.score == near(cosine(ours[phrase.span], theirs[partner]))
                assert phrase.score == near(max(cosine(ours[phrase.span], state) for state in theirs.values()))
        config = self.model.config
        assert [(one.pooling, one.k) for one in record.choices if one.trained] == [
            (config.pooling, 0 if config.pooling == "full" else config.k)
        ]
        for choice in record.choices:
            for side, kept in zip(record.sides, choice.kept, strict=True):
                scores = [round(phrase.score, 5) for phrase in side.phrases]
                sign = -1 if choice.pooling == "kmax" else 1
                order = sorted(range(len(scores)), key=lambda i, s=scores, sign=sign: (sign * s[i], i))
                assert [*kept] == sorted(order[: choice.k] if choice.k else order)
            if choice.k in (0, 2):
                again = read_phrases(self.model, *self.texts, self.judged, self.extra, choice.pooling, choice.k)
                probabilities = torch.tensor(again["logits"]).softmax(0).tolist()
                assert [*choice.probabilities] == near(probabilities)


def _values(convolution, k, width):
    """One filter's value before the activation at every place of its sentence."""
    states, weights = convolution["states"], convolution["weights"][k]
    places = range(len(states)) if convolution["centred"] else range(max(1, len(states) - width + 1))
    back = width // 2 if convolution["centred"] else 0
    for i in places:
        inside = [(j, i - back + j) for j in range(width) if 0 <= i - back + j < len(states)]
        context = convolution["context"][i][k] if convolution["context"] else 0.0
        yield sum(dot(weights[j], states[at]) for j, at in inside) + context + convolution["bias"][k]


def kinds_without_a_rebuilder(evidence):
    """The kinds of these records that nothing here or elsewhere rebuilds."""
    kinds = {record.kind for record in evidence if not hasattr(Rebuilt, f"_{record.kind}")}
    return kinds - REBUILDERS.keys() - ELSEWHERE.keys()
