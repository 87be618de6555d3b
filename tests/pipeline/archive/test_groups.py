"""Small days are copied together; each is verified and committed by itself."""

from datetime import UTC, date, datetime, timedelta
from typing import Any

import pytest

from minutehand_pipeline.archive.archiver import Archiver
from minutehand_pipeline.archive.closing import Day
from minutehand_pipeline.archive.decision import Action, Decision
from minutehand_pipeline.archive.groups import MAX_DAYS, MAX_ROWS, Decided, group_days
from minutehand_pipeline.errors import MismatchError
from minutehand_pipeline.schemas import HOMES
from tests.pipeline.archive.stage import DAY, Stage

JOBS = ("jobs_done",)


class Counting(Archiver):
    """Counts the Spark jobs that write."""

    written = 0

    def write(self, home: Any, rows: Any) -> Any:
        Counting.written += 1
        return super().write(home, rows)


class LosingTheLastDay(Archiver):
    """Loses the rows of the last day between the database and the files."""

    def write(self, home: Any, rows: Any) -> Any:
        return super().write(home, rows.where(f"day < date '{DAY}'"))


def test_small_days_are_copied_by_one_spark_job(stage: Stage, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Counting, "written", 0)
    stage.fill(60, days=4)
    before = stage.queued()

    result = stage.archive(Counting, homes=JOBS, drop=True, until=DAY)

    archived = [each for each in result.days if each.rows]
    assert Counting.written == 1
    assert [(each.number, each.dropped) for each in archived] == [(n, "dropped") for n in (1, 2, 3, 4)]
    assert stage.sql("select sum(rows)::int, count(distinct day)::int from minutehand.archive_batches") == [
        (60, 4)
    ]
    assert (stage.archived(), stage.queued()) == (before, {})


def test_late_rows_of_several_days_are_archived_once(stage: Stage) -> None:
    first, *_ = stage.fill(40, days=2)
    stage.archive(homes=JOBS)
    stage.sql(
        "insert into minutehand.jobs (kind, deleted)"
        " select 'late', d::timestamp at time zone 'UTC' + interval '1 hour' from unnest(%s::date[]) d",
        [first, DAY],
    )

    stage.archive(homes=JOBS)

    assert stage.archived() == stage.queued() and set(stage.archived().values()) == {1}


def test_days_before_a_mismatch_remain_archived(stage: Stage) -> None:
    stage.fill(60, days=3)

    with pytest.raises(MismatchError, match=f"of {DAY}: the database and the files differ in rows"):
        stage.archive(LosingTheLastDay, homes=JOBS)

    assert stage.archived().total() == 40
    stage.archive(homes=JOBS)
    assert stage.archived() == stage.queued() and set(stage.archived().values()) == {1}


def decided(n: int, action: Action = Action.ARCHIVE, rows: int = 1) -> Decided:
    day = date(2026, 1, 1) + timedelta(days=n)
    ends = datetime(2026, 1, 2, tzinfo=UTC) + timedelta(days=n)
    return Day(HOMES["events"], day, ends, True, None, None), Decision(action, rows=rows, present=rows)


@pytest.mark.parametrize(
    ("days", "sizes"),
    [
        ([], []),
        ([decided(n) for n in range(MAX_DAYS + 2)], [MAX_DAYS, 2]),
        ([decided(0), decided(1, Action.SKIP), decided(2), decided(3)], [1, 1, 2]),
        ([decided(0, Action.WAIT), decided(1, Action.WAIT)], [1, 1]),
        ([decided(0, rows=5 * MAX_ROWS), decided(1), decided(2, rows=MAX_ROWS)], [1, 1, 1]),
    ],
)
def test_groups_are_bounded_and_hold_only_days_to_archive(days: list[Decided], sizes: list[int]) -> None:
    groups = list(group_days(days))

    assert [len(group) for group in groups] == sizes
    assert [each for group in groups for each in group] == days
