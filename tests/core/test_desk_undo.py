"""Undo must not set another tag, duplicate a history line, or mark a row that has no tag."""

import pytest
import sqlalchemy as sa

from core.desk import schema
from core.desk.annotations import Annotations
from core.desk.database import open_database
from core.errors import DeskError
from tests.core.write_tags import FILE


@pytest.fixture
def annotations(database):
    return Annotations(open_database())


def last(annotations, kind):
    return next(change for change in annotations.history() if change.subject.kind == kind)


def test_undoing_never_writes_another_tag(annotations):
    annotations.add_tag("Ann", "X")
    added = last(annotations, "tag name")
    annotations.give("Ann", FILE, "1", "X")
    annotations.give("Ann", FILE, "1", "X", given=False)
    unmarked = last(annotations, "tag")
    annotations.undo("Ann", added.id)
    taken_out = last(annotations, "tag name")
    annotations.add_tag("Ann", "Y")
    with pytest.raises(DeskError, match="taken out of the list"):
        annotations.undo("Ann", unmarked.id)
    assert annotations.state(FILE).rows == {}
    assert {change.tag for change in annotations.history(FILE, "1")} == {"X"}, "history names a tag that is gone"
    annotations.undo("Ann", taken_out.id)
    annotations.undo("Ann", unmarked.id)
    assert annotations.state(FILE).row("1").tags == {"X": {"Ann"}}


def test_a_tag_comes_back_only_where_its_name_is_free(annotations):
    annotations.add_tag("Ann", "X")
    annotations.undo("Ann", last(annotations, "tag name").id)
    undoing = last(annotations, "tag name")
    annotations.add_tag("Bob", "x")
    with pytest.raises(DeskError, match="already"):
        annotations.undo("Ann", undoing.id)


@pytest.mark.slow
def test_a_merger_does_not_come_back_without_both_tags(annotations):
    annotations.add_tag("Ann", "X")
    added = last(annotations, "tag name")
    for name, into in (("other", "X"), ("X", "other")):
        annotations.merge_tags("Ann", name, into)
        annotations.undo("Ann", last(annotations, "tag merged").id)
    annotations.undo("Ann", added.id)
    for undoing in [c for c in annotations.history() if c.subject.kind == "tag merged" and c.undoes is not None]:
        with pytest.raises(DeskError, match="taken out of the list"):
            annotations.undo("Ann", undoing.id)


def test_a_change_is_undone_once(annotations):
    """A stale page cannot undo a change twice, even if the value is the same as after the change."""
    annotations.give("Ann", FILE, "1", "other")
    given = last(annotations, "tag")
    annotations.undo("Ann", given.id)
    annotations.give("Ann", FILE, "1", "other")
    with pytest.raises(DeskError, match="undone already"):
        annotations.undo("Bob", given.id)
    annotations.undo("Bob", last(annotations, "tag").id)
    changes = annotations.history(FILE, "1")
    assert len({change.id for change in changes}) == len(changes) == 4


def test_undo_redo_undo_leaves_each_change_one_line(annotations):
    annotations.note("Ann", FILE, "1", "why")
    first = last(annotations, "note")
    annotations.undo("Ann", first.id)
    annotations.undo("Ann", last(annotations, "note").id)
    with pytest.raises(DeskError, match="undone already"):
        annotations.undo("Ann", first.id)
    annotations.undo("Ann", last(annotations, "note").id)
    assert annotations.state(FILE).rows == {}
    changes = annotations.history(FILE, "1")
    assert [change.undoes for change in changes] == [changes[1].id, changes[2].id, first.id, None]


def test_the_schema_itself_refuses_a_second_undoing(annotations):
    annotations.give("Ann", FILE, "1", "other")
    annotations.undo("Ann", last(annotations, "tag").id)
    with pytest.raises(sa.exc.IntegrityError), open_database().begin() as connection:
        (undoing,) = connection.execute(sa.select(schema.event).where(schema.event.c.undoes.is_not(None)))
        connection.execute(sa.insert(schema.event).values({**undoing._mapping, "id": undoing.id + 1}))


def test_a_removed_tags_number_is_not_used_again(annotations):
    numbers = []
    for _ in range(2):
        annotations.add_tag("Ann", "X")
        numbers.append(annotations.taxonomy()[-1].id)
        annotations.undo("Ann", last(annotations, "tag name").id)
    assert numbers[0] < numbers[1] and "X" not in [tag.name for tag in annotations.taxonomy()]


def test_a_built_in_tag_is_renamed_and_renamed_back(annotations):
    annotations.rename_tag("Ann", "other", "something else")
    (renamed,) = annotations.history("")
    assert (renamed.before, renamed.value, renamed.tag) == ("other", "something else", "something else")
    annotations.undo("Bob", renamed.id)
    assert annotations.taxonomy()[-1].name == "other"


def test_a_merged_tag_that_was_removed_comes_back_merged(annotations):
    annotations.add_tag("Ann", "X")
    added = last(annotations, "tag name")
    annotations.merge_tags("Ann", "X", "other")
    annotations.undo("Ann", added.id)
    assert annotations.taxonomy()[-1].merged == ()
    annotations.undo("Ann", last(annotations, "tag name").id)
    assert annotations.taxonomy()[-1].merged == ("X",)
    annotations.undo("Ann", last(annotations, "tag merged").id)
    assert annotations.taxonomy()[-1].name == "X"
