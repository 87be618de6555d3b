"""Each day is archived completely and once, and is dropped only if the lake has every row of it."""

from datetime import UTC, date, datetime
from typing import Any

import pyarrow as pa
import pytest

from minutehand.database import connect
from minutehand_pipeline.archive.archiver import Archiver
from minutehand_pipeline.archive.erase import EraseConfig, erase
from minutehand_pipeline.errors import LakeError, MismatchError
from minutehand_pipeline.lake import Lake
from minutehand_pipeline.lake.frames import read_lake
from minutehand_pipeline.lake.summaries import Summaries
from minutehand_pipeline.schemas import HOMES
from tests.pipeline.archive.stage import DAY, Stage

JOBS = ("jobs_done",)
REPLACE = """
with removed as (delete from minutehand.jobs where id = (select min(id::text)::uuid from minutehand.jobs))
insert into minutehand.jobs (kind, deleted) values ('late', '2026-03-31 23:59:59.999999+00')
"""
HOSTILE = """
insert into minutehand.jobs (id, ack, kind, key, payload, deleted, timeout, personal, headers, error) values
  ('00000000-0000-0000-0000-000000000001', null, 'a', E'\\x01 ☃ \U0001f600 | "', '"\\u001f\\u001e é"',
   '2026-03-29 00:00:00+00', '1.000001 s', false, null, '{"type": "E", "message": "m", "trace": ""}'),
  ('00000000-0000-0000-0000-000000000002', gen_random_uuid(), 'a', 'k', '{"secret": 1}',
   '2026-03-29 23:59:59.999999+00', '24 hours', true, '{"a": "b"}', null),
  ('00000000-0000-0000-0000-000000000003', gen_random_uuid(), 'a', null, to_json(repeat('x', 10000000)),
   '2026-03-29 01:30:00.000001+00', null, false, null, null)
"""


def test_every_row_is_archived_once(
    stage: Stage,
) -> None:
    stage.fill(60, days=2)

    first = stage.archive()
    second = stage.archive()

    assert {home: stage.archived(home) for home in HOMES} == {home: stage.queued(home) for home in HOMES}
    assert sum(each.rows for each in first.days if each.home == "jobs_done") == 60
    assert {each.outcome for each in second.days} <= {"known", "empty"}


def test_late_rows_are_archived_before_the_drop(stage: Stage) -> None:
    """A row commits late and another is deleted, so the count does not change."""
    stage.fill(40)
    with connect(stage.database.url) as writer:
        stage.archive(homes=JOBS)
        writer.execute(REPLACE)
    before = stage.queued()

    result = stage.archive(homes=JOBS, drop=True, since=DAY, until=DAY)

    assert [(each.outcome, each.rows, each.number, each.dropped) for each in result.days] == [
        ("archived", 1, 2, "dropped")
    ]
    assert stage.queued() == {}
    assert before <= stage.archived() and stage.archived().total() == 41


class Racing(Archiver):
    """Another session replaces a row after the day was recorded, before it is dropped."""

    def record(self, batch: Any) -> None:
        super().record(batch)
        if batch.number == 1:
            self.database.connection.execute(REPLACE)


def test_rows_that_change_before_the_drop_are_archived(stage: Stage) -> None:
    """The number of rows does not change."""
    stage.fill(40)
    before = stage.queued()

    result = stage.archive(Racing, homes=JOBS, drop=True, since=DAY, until=DAY)

    assert [(each.rows, each.number, each.dropped) for each in result.days] == [(41, 2, "dropped")]
    assert stage.queued() == {}
    assert before <= stage.archived() and stage.archived().total() == 41


def test_unusual_rows_and_empty_days_are_archived(stage: Stage) -> None:
    """Clocks in Berlin change on 29 March 2026, but a UTC day has 24 hours."""
    stage.sql("select minutehand.make_days(1, '2026-03-28')")
    stage.sql(HOSTILE)

    result = stage.archive(homes=JOBS, drop=True, until=date(2026, 3, 29))

    assert [(each.day.day, each.outcome, each.rows, each.dropped) for each in result.days] == [
        (28, "empty", 0, "dropped"),
        (29, "archived", 3, "dropped"),
    ]
    rows = {row["id"][-1]: row for row in read_lake(stage.spark, stage.lake, HOMES["jobs_done"]).collect()}
    assert (rows["1"]["ack"], rows["1"]["key"], rows["1"]["timeout"]) == (
        None,
        '\x01 ☃ \U0001f600 | "',
        1.000001,
    )
    assert (rows["2"]["payload"], rows["2"]["headers"], rows["2"]["key"]) == (None, None, "k")
    assert rows["2"]["deleted"].astimezone(UTC) == datetime(2026, 3, 29, 23, 59, 59, 999999, UTC)
    assert len(rows["3"]["payload"]) == 10_000_002


def test_rows_without_partition_are_archived_and_dropped(stage: Stage) -> None:
    stage.sql(
        "insert into minutehand.jobs (kind, deleted)"
        " values ('a', '2020-02-29 00:00+00'), ('b', '2020-02-29 12:00+00'), ('c', '2020-03-01 00:00+00')"
    )
    before = stage.queued()

    result = stage.archive(homes=JOBS, drop=True, until=DAY)

    assert [(each.outcome, each.rows, each.dropped) for each in result.days] == [
        ("archived", 2, "dropped"),
        ("archived", 1, "dropped"),
    ]
    assert (stage.archived(), stage.queued()) == (before, {})


class Losing(Archiver):
    """Loses rows between the database and the files."""

    def write(self, home: Any, rows: Any) -> Any:
        return super().write(home, rows.limit(39))


class Changing(Archiver):
    """Changes a letter of a payload."""

    def write(self, home: Any, rows: Any) -> Any:
        return super().write(
            home,
            rows.selectExpr(
                *(
                    "translate(payload, 'é', 'e') as payload" if name == "payload" else name
                    for name in rows.columns
                )
            ),
        )


@pytest.mark.parametrize(("archiver", "differs"), [(Losing, "rows 40 and 39"), (Changing, "checksum")])
def test_files_are_verified_before_the_commit(stage: Stage, archiver: Any, differs: str) -> None:
    stage.fill(40)

    with pytest.raises(
        MismatchError, match=f"of 2026-03-31: the database and the files differ in .*{differs}"
    ):
        stage.archive(archiver, homes=JOBS, drop=True)

    assert (stage.archived().total(), stage.queued().total()) == (0, 40)
    assert stage.sql("select max(number)::int from minutehand.archive_batches") == [(0,)]


def test_changed_ack_prevents_the_drop(stage: Stage) -> None:
    stage.fill(20)
    stage.archive(homes=JOBS)
    stage.sql("update minutehand.jobs set ack = gen_random_uuid() where key = 'key-4'")

    with pytest.raises(MismatchError, match=r"of 2026-03-31: .* differ in rows 20 and 19"):
        stage.archive(homes=JOBS, drop=True)

    assert len(stage.queued()) == 20


def test_other_lake_or_older_copy_is_rejected(stage: Stage) -> None:
    stage.fill(20)
    stage.archive(homes=JOBS)
    elsewhere = Lake(str(stage.home / "elsewhere"))

    with pytest.raises(LakeError, match="must be the table to which jobs_done was archived"):
        stage.archive(homes=JOBS, lake=elsewhere)
    stage.sql("update minutehand.archive_batches set number = 7 where number = 1")
    with pytest.raises(LakeError, match="is 1, but the database's is 7: one of them is an older copy"):
        stage.archive(homes=JOBS)
    stage.sql("delete from minutehand.archive_batches")
    with pytest.raises(LakeError, match="has batches that are not in this database's ledger"):
        stage.archive(homes=JOBS, dry_run=True)

    assert not elsewhere.table(HOMES["jobs_done"]).exists
    assert stage.archived() == stage.queued()


def test_later_batch_does_not_restore_erased_data(stage: Stage) -> None:
    stage.fill(40)
    [(job, key)] = stage.sql(
        "select id::text, key from minutehand.jobs where key is not null order by id limit 1"
    )
    stage.archive(until=DAY)
    stage.sql(
        "insert into minutehand.jobs (kind, key, payload, deleted) values ('late', %s, '1', '2026-03-31 12:00+00')",
        key,
    )
    config = {"lake": stage.lake, "key": key, "location": stage.location}
    summaries = Summaries(stage.lake, "1-of-a-report")
    summaries.write(f"{DAY}-before", {"failures": pa.table({"message": [key]})})

    would = erase(EraseConfig(**config, dry_run=True))
    done = erase(EraseConfig(**config))
    result = stage.archive(until=DAY)

    assert would.erased == done.erased and done.erased["jobs_done"] == 1 and done.left["jobs"] == 2
    assert done.vacuumed > 0 and summaries.names() == []
    assert [each.rows for each in result.days if each.rows] == [1]
    jobs = read_lake(stage.spark, stage.lake, HOMES["jobs_done"])
    assert jobs.where(f"key = '{key}'").count() == 0
    assert [row["payload"] for row in jobs.where(f"id = '{job}' or kind = 'late'").collect()] == [None, None]
    assert stage.archived() == stage.queued()
    assert stage.sql("select facts ->> 'jobs', facts ? 'key' from minutehand.audit where verb = 'erase'") == [
        ("2", False)
    ]
