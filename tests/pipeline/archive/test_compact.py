"""Compaction merges small files of a day; no row changes, and erasures and archives go on as before."""

from collections import Counter
from datetime import date
from pathlib import Path

import pytest

from minutehand_pipeline.archive import compact as compaction
from minutehand_pipeline.archive.compact import CompactConfig, compact
from minutehand_pipeline.archive.erase import EraseConfig, erase
from minutehand_pipeline.archive.ledger import APP
from minutehand_pipeline.archive.lock import archive_lock
from minutehand_pipeline.errors import BusyError, InputError, LakeError
from minutehand_pipeline.schemas import HOMES
from tests.pipeline.archive.stage import Stage

JOBS = ("jobs_done",)
LATE = "insert into minutehand.jobs (kind, deleted) values ('late', timestamptz '2026-03-31 12:00+00')"


NAMED = """insert into minutehand.jobs (kind, key, payload, deleted)
    values ('late', %s, %s, timestamptz '2026-03-31 12:00+00')"""


def in_files(stage: Stage, text: str) -> bool:
    """Whether a file of the lake has a text that is not compressed, such as a statistic."""
    files = (path for path in Path(stage.lake.path).rglob("*") if path.is_file())
    return any(text.encode() in path.read_bytes() for path in files)


def files(stage: Stage) -> Counter[date]:
    return Counter(file.day for file in stage.lake.table(HOMES["jobs_done"]).files())


@pytest.fixture
def three_files(stage: Stage) -> Stage:
    """A lake of two days, the second of which has three files."""
    stage.fill(40, days=2)
    stage.archive(homes=JOBS)
    for _ in range(2):
        stage.sql(LATE)
        stage.archive(homes=JOBS)
    assert sorted(files(stage).values()) == [1, 3]
    return stage


def test_small_files_of_a_day_become_one(three_files: Stage) -> None:
    stage, before = three_files, three_files.archived()
    config = CompactConfig(lake=stage.lake, files=3, location=stage.location)
    planned = compact(CompactConfig(lake=stage.lake, files=3, dry_run=True, location=stage.location))
    [first] = [file.path for file in stage.lake.table(HOMES["jobs_done"]).files(days=[date(2026, 3, 30)])]
    assert sorted(files(stage).values()) == [1, 3]

    done = compact(config)

    assert done == planned
    assert [(each.days, each.before, each.after) for each in done] == [(1, 3, 1), (0, 0, 0), (0, 0, 0)]
    assert sorted(files(stage).values()) == [1, 1]
    # The other day was not touched, so reports need not read it again.
    assert first in [file.path for file in stage.lake.table(HOMES["jobs_done"]).files()]
    assert stage.archived() == before
    assert compact(config)[0].days == 0


def test_value_that_is_erased_after_a_compaction_is_in_no_file(three_files: Stage) -> None:
    stage, names = three_files, ("alice-4711", "bob-4712", "carol-4713")
    for name in names:
        stage.sql(NAMED, name, f'"{name}"')
        stage.archive(homes=JOBS)
    compact(CompactConfig(lake=stage.lake, files=3, location=stage.location))
    assert in_files(stage, "alice-4711")

    # The first erasure writes the rows of the others again.
    for name in names[:2]:
        erase(EraseConfig(lake=stage.lake, key=name, location=stage.location))

    assert not any(in_files(stage, name) for name in names[:2])


def test_files_that_fit_into_no_other_remain(three_files: Stage, monkeypatch: pytest.MonkeyPatch) -> None:
    stage, table = three_files, three_files.lake.table(HOMES["jobs_done"])
    monkeypatch.setattr(compaction, "SMALL", max(file.size for file in table.files()) + 1)

    planned = compact(CompactConfig(lake=stage.lake, files=3, dry_run=True, location=stage.location))

    assert planned == compact(CompactConfig(lake=stage.lake, files=3, location=stage.location))
    assert [each.days for each in planned] == [0, 0, 0]
    assert sorted(files(stage).values()) == [1, 3]


def test_archive_and_erasure_follow_a_compaction(three_files: Stage) -> None:
    stage = three_files
    compact(CompactConfig(lake=stage.lake, files=2, location=stage.location))
    number = stage.lake.table(HOMES["jobs_done"]).number(APP)

    result = erase(EraseConfig(lake=stage.lake, tenant="acme", location=stage.location))
    stage.sql(LATE)
    stage.archive(homes=JOBS, drop=True)

    # The files before the compaction have the data too.
    assert result.vacuumed >= 4 and result.erased["jobs_done"] > 0
    assert number == 4
    assert sum(stage.archived().values()) == 43 and stage.queued() == {}


def test_compaction_does_not_run_beside_an_archive(three_files: Stage) -> None:
    from minutehand.database import Database

    database = Database(three_files.database.url)
    with archive_lock(database), pytest.raises(BusyError, match="another archive is running"):
        compact(CompactConfig(lake=three_files.lake, location=three_files.location))
    database.close()


def test_compaction_of_something_else_is_rejected(stage: Stage) -> None:
    with pytest.raises(LakeError, match="is not a lake: nothing was archived there"):
        compact(CompactConfig(lake=stage.lake, location=stage.location))
    with pytest.raises(InputError, match="files must be an integer of at least 2, got 1"):
        CompactConfig(lake=stage.lake, files=1)
