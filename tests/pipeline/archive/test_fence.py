"""A run that lost the lock cannot commit, and another queue's lake is not touched."""

from contextlib import closing
from datetime import date
from typing import Any

import pytest

from minutehand.database import connect
from minutehand_pipeline.archive.archive import ArchiveConfig
from minutehand_pipeline.archive.archiver import Archiver
from minutehand_pipeline.archive.erase import EraseConfig, erase
from minutehand_pipeline.errors import InputError, LakeError
from minutehand_pipeline.lake import Lake, Table
from minutehand_pipeline.lake.frames import read_lake
from minutehand_pipeline.schemas import HOMES
from minutehand_pipeline.statements import run_statement
from tests.conftest import NewDatabase
from tests.pipeline.archive.stage import DAY, Stage

JOBS = ("jobs_done",)
LATE = "insert into minutehand.jobs (kind, deleted) select 'late', '2026-03-31 22:00+00' from generate_series(1, %s)"


class Ended(Archiver):
    """At a step, the session that holds its lock is terminated, and an erasure runs."""

    step = ""

    def meanwhile(self, step: str) -> None:
        if step == self.step:
            with closing(self.database.clone()) as other:
                [locker] = run_statement(other, "archive_locker")
                other.connection.execute("select pg_terminate_backend(%s, 10000)", [locker["pid"]])
            erase(EraseConfig(lake=self.lake, key="key-4", location=self.location))

    def read(self, *arguments: Any) -> Any:
        self.meanwhile("read")
        return super().read(*arguments)

    def commit(self, *arguments: Any) -> None:
        self.meanwhile("commit")
        super().commit(*arguments)


@pytest.mark.parametrize("step", ["read", "commit"])
def test_run_without_the_lock_cannot_commit_after_erasure(
    stage: Stage, step: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Ended, "step", step)
    stage.fill(20)
    stage.archive(homes=("events",))
    before = stage.queued()

    with pytest.raises(
        Exception, match=r"cannot commit batch 1 of minutehand to .*: its last batch is \d|closed"
    ):
        stage.archive(archiver=Ended, homes=JOBS, drop=True)
    assert stage.queued() == before

    stage.archive(homes=JOBS, drop=True)
    assert stage.archived() == before
    assert read_lake(stage.spark, stage.lake, HOMES["jobs_done"]).where("key = 'key-4'").count() == 0


def test_next_erasure_completes_a_killed_one(stage: Stage, monkeypatch: pytest.MonkeyPatch) -> None:
    stage.fill(40)
    stage.archive(drop=True)
    [(job, key)] = [
        tuple(row)
        for row in read_lake(stage.spark, stage.lake, HOMES["jobs_done"])
        .where("key is not null and attempts = 2")
        .select("id", "key")
        .limit(1)
        .collect()
    ]
    config = EraseConfig(lake=stage.lake, key=key, location=stage.location)
    for name in ("events", "attempts"):
        with monkeypatch.context() as killed:
            killed.setattr(Table, "erase", _dies_after(name, Table.erase))
            with pytest.raises(KeyboardInterrupt):
                erase(config)

    erase(config)

    for home, column in (("attempts", "job"), ("events", "job"), ("jobs_done", "id")):
        private = {"attempts": "error", "events": "facts", "jobs_done": "payload"}[home]
        rows = read_lake(stage.spark, stage.lake, HOMES[home]).where(f"{column} = '{job}'")
        assert rows.count() > 0
        assert rows.where(f"{private} is not null").count() == 0, home


def _dies_after(name: str, real: Any) -> Any:
    def erase(table: Table, *arguments: Any) -> int:
        rows: int = real(table, *arguments)
        if table.home.name == name:
            raise KeyboardInterrupt
        return rows

    return erase


def test_lake_of_another_queue_is_rejected(stage: Stage, new_database: NewDatabase) -> None:
    stage.archive(homes=JOBS)
    (stage.home / "other").mkdir()
    other = Stage(stage.spark, new_database("direct-18"), stage.home / "other")
    other.fill(7)

    with pytest.raises(LakeError, match="is another queue's lake; choose another folder"):
        other.archive(homes=JOBS, lake=stage.lake)

    stage.fill(7)
    stage.archive(homes=JOBS)
    assert stage.archived() == stage.queued()


def test_late_rows_of_a_dropped_day_are_archived(stage: Stage) -> None:
    stage.fill(4)
    before = stage.queued()
    stage.archive(homes=JOBS, drop=True)
    with connect(stage.database.url) as connection:
        connection.execute(LATE, [4])
    late = stage.queued()

    assert [each.outcome for each in stage.archive(homes=JOBS, dry_run=True, since=DAY, until=DAY).days] == [
        "pending"
    ]
    stage.archive(homes=JOBS)

    assert stage.archived() == before + late
    assert [each.outcome for each in stage.archive(homes=JOBS, since=DAY, until=DAY).days] == ["known"]


def test_erasure_requires_a_lake(stage: Stage) -> None:
    stage.fill(4)
    for dry_run in (True, False):
        with pytest.raises(LakeError, match="typo is not a lake: nothing was archived there"):
            erase(
                EraseConfig(
                    lake=Lake(str(stage.home / "typo")), key="key-4", location=stage.location, dry_run=dry_run
                )
            )

    assert not (stage.home / "typo").exists()
    stage.archive(homes=JOBS)
    assert stage.archived() == stage.queued()


@pytest.mark.parametrize(
    "path", ["", "lake[1]", "lake{a,b}", "lake%20x", "la*ke", "foo://bar", "https://bucket/lake"]
)
def test_invalid_lake_location_is_rejected(path: str) -> None:
    with pytest.raises(InputError, match="lake must be a folder"):
        Lake(path)


def test_archive_rejects_since_after_until() -> None:
    with pytest.raises(InputError, match="since must not be after until, got 2026-04-02 and 2026-03-01"):
        ArchiveConfig(lake=Lake("lake"), since=date(2026, 4, 2), until=date(2026, 3, 1))


@pytest.mark.parametrize("subject", [{"key": ""}, {"tenant": ""}, {"key": "a", "queue": ""}])
def test_erasure_rejects_empty_subjects(subject: dict[str, str]) -> None:
    with pytest.raises(InputError, match="must not be empty"):
        EraseConfig(lake=Lake("lake"), **subject)  # type: ignore[arg-type]
