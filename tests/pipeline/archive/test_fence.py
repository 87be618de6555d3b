"""Who lost the lock commits nothing after others went on, and what is not this queue's is left alone."""

from contextlib import closing
from datetime import date
from typing import Any

import pytest

from minutehand.database import connect
from minutehand_pipeline.archive.carry import Archiver
from minutehand_pipeline.archive.erase import EraseConfig
from minutehand_pipeline.archive.erase import run as erase
from minutehand_pipeline.archive.run import ArchiveConfig
from minutehand_pipeline.errors import InputError, LakeError
from minutehand_pipeline.lake import Lake, Table
from minutehand_pipeline.schemas import HOMES
from minutehand_pipeline.sources.lake import read_lake
from minutehand_pipeline.statements import run as send
from tests.conftest import NewDatabase
from tests.pipeline.archive.stage import DAY, Stage

JOBS = ("jobs_done",)
LATE = "insert into minutehand.jobs (kind, deleted) select 'late', '2026-03-31 22:00+00' from generate_series(1, %s)"


class Ended(Archiver):
    """At one of its steps somebody ends its lock's session, as the message to a second archiver says, and erases."""

    step = ""

    def meanwhile(self, step: str) -> None:
        if step == self.step:
            with closing(self.database.clone()) as other:
                [locker] = send(other, "archive_locker")
                other.connection.execute("select pg_terminate_backend(%s, 10000)", [locker["pid"]])
            erase(EraseConfig(lake=self.lake, key="key-4", place=self.place))

    def read(self, *arguments: Any) -> Any:
        self.meanwhile("read")
        return super().read(*arguments)

    def commit(self, *arguments: Any) -> None:
        self.meanwhile("commit")
        super().commit(*arguments)


@pytest.mark.parametrize("step", ["read", "commit"])
def test_who_lost_the_lock_commits_nothing_after_an_erasure(
    stage: Stage, step: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Ended, "step", step)
    stage.fill(20)
    stage.archive(homes=("events",))
    before = stage.queued()

    with pytest.raises(
        Exception, match=r"is at batch \d of minutehand, so that batch 1 cannot be committed|closed"
    ):
        stage.archive(archiver=Ended, homes=JOBS, drop=True)
    assert stage.queued() == before

    stage.archive(homes=JOBS, drop=True)
    assert stage.laked() == before
    assert read_lake(stage.spark, stage.lake, HOMES["jobs_done"]).where("key = 'key-4'").count() == 0


def test_an_erasure_that_was_killed_after_a_table_is_finished_by_the_next(
    stage: Stage, monkeypatch: pytest.MonkeyPatch
) -> None:
    stage.fill(40)
    stage.archive(drop=True)
    [(job, key)] = [
        tuple(row)
        for row in read_lake(stage.spark, stage.lake, HOMES["jobs_done"])
        .where("key is not null and attempts = 2").select("id", "key").limit(1).collect()
    ]  # fmt: skip
    config = EraseConfig(lake=stage.lake, key=key, place=stage.place)
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


def test_another_queue_is_refused_also_where_the_first_has_carried_nothing_yet(
    stage: Stage, new_database: NewDatabase
) -> None:
    stage.archive(homes=JOBS)
    (stage.home / "other").mkdir()
    other = Stage(stage.spark, new_database("direct-18"), stage.home / "other")
    other.fill(7)

    with pytest.raises(LakeError, match="is another queue's lake; choose another folder"):
        other.archive(homes=JOBS, lake=stage.lake)

    stage.fill(7)
    stage.archive(homes=JOBS)
    assert stage.laked() == stage.queued()


def test_as_many_late_rows_as_a_dropped_day_had_are_carried_all_the_same(stage: Stage) -> None:
    stage.fill(4)
    before = stage.queued()
    stage.archive(homes=JOBS, drop=True)
    with connect(stage.database.url) as connection:
        connection.execute(LATE, [4])
    late = stage.queued()

    assert [each.outcome for each in stage.archive(homes=JOBS, dry_run=True, since=DAY, until=DAY).days] == [
        "would"
    ]
    stage.archive(homes=JOBS)

    assert stage.laked() == before + late
    assert [each.outcome for each in stage.archive(homes=JOBS, since=DAY, until=DAY).days] == ["known"]


def test_an_erasure_where_nothing_was_archived_makes_nothing(stage: Stage) -> None:
    stage.fill(4)
    for dry_run in (True, False):
        with pytest.raises(LakeError, match="typo is no lake: nothing was archived there"):
            erase(
                EraseConfig(
                    lake=Lake(str(stage.home / "typo")), key="key-4", place=stage.place, dry_run=dry_run
                )
            )

    assert not (stage.home / "typo").exists()
    stage.archive(homes=JOBS)
    assert stage.laked() == stage.queued()


@pytest.mark.parametrize(
    "path", ["", "lake[1]", "lake{a,b}", "lake%20x", "la*ke", "foo://bar", "https://bucket/lake"]
)
def test_what_is_no_place_for_a_lake_is_refused(path: str) -> None:
    with pytest.raises(InputError, match=r"is no folder for a lake|is neither a folder nor at s3"):
        Lake(path)


def test_days_the_wrong_way_round_are_refused() -> None:
    with pytest.raises(InputError, match="since 2026-04-02 is after until 2026-03-01"):
        ArchiveConfig(lake=Lake("lake"), since=date(2026, 4, 2), until=date(2026, 3, 1))


@pytest.mark.parametrize("said", [{"key": ""}, {"tenant": ""}, {"key": "a", "queue": ""}])
def test_an_erasure_of_nobody_is_refused(said: dict[str, str]) -> None:
    with pytest.raises(InputError, match="have a name"):
        EraseConfig(lake=Lake("lake"), **said)  # type: ignore[arg-type]
