"""Each migration step is applied once, and every way to apply them gives the same schema."""

import subprocess
from collections.abc import Callable
from shutil import which

import pytest

from minutehand import DatabaseError, SchemaError
from minutehand.schema.migrate import check_schema, migrate, migration_sql, status
from minutehand.schema.steps import migrations, steps
from tests.conftest import NewDatabase
from tests.queue.migrated import catalog, empty, fresh
from tests.queue.stage import Queue
from tests.schema_dump import COMMITTED, dump

__all__ = ["empty", "fresh"]

pytestmark = pytest.mark.every_version

NAMES = [step.name for step in steps()]


def test_migrate_returns_every_step(empty: Queue) -> None:
    assert [step.name for step in migrate(empty.database)] == NAMES
    assert all(step.applied for step in status(empty.database))
    check_schema(empty.database)


def test_second_migrate_changes_nothing(empty: Queue) -> None:
    migrate(empty.database)
    before, recorded = catalog(empty), status(empty.database)

    assert migrate(empty.database) == []
    assert (catalog(empty), status(empty.database)) == (before, recorded)


def test_concurrent_migrates_apply_each_step_once(empty: Queue) -> None:
    running = [empty.start(lambda: migrate(empty.another())) for _ in range(6)]

    assert sorted(len(future.result()) for future in running) == [0] * 5 + [len(NAMES)]
    check_schema(empty.database)


def test_failed_migrate_leaves_nothing(empty: Queue) -> None:
    empty.sql("create schema minutehand; create table minutehand.new_jobs (n int)")
    with pytest.raises(DatabaseError, match="new_jobs"):
        migrate(empty.database)

    assert {name for what, name in catalog(empty) if what == "relation"} == {"minutehand.new_jobs"}


def test_migrated_database_equals_the_committed_dump(new_database: NewDatabase) -> None:
    assert dump(new_database("direct-18").admin_url) == COMMITTED.read_text(), "run: make schema"


def test_printed_sql_gives_the_same_schema(empty: Queue, new_database: NewDatabase, server_name: str) -> None:
    printed = migration_sql(empty.database)
    empty.sql(printed)  # type: ignore[arg-type]
    other = new_database(server_name)
    migrated = Queue(other.url, other.admin_url)

    try:
        assert catalog(empty) == catalog(migrated)
    finally:
        migrated.close()
    assert migrate(empty.database) == []
    assert migration_sql(empty.database) == ""


def test_psql_runs_the_printed_sql(new_database: NewDatabase) -> None:
    if not (psql := which("psql")):
        pytest.skip("psql is not installed")
    database = new_database("direct-18", migrated=False)
    queue = Queue(database.url, database.admin_url)
    printed = migration_sql(queue.database)
    subprocess.run(
        [psql, "-qXv", "ON_ERROR_STOP=1", database.admin_url], input=printed, text=True, check=True
    )

    try:
        check_schema(queue.database)
        assert dump(database.admin_url) == COMMITTED.read_text()
    finally:
        queue.close()


def test_missing_schema_error_says_what_to_run(empty: Queue) -> None:
    for call in (lambda: check_schema(empty.database), empty.enqueue, empty.take):
        with pytest.raises(SchemaError, match="run: minutehand migrate"):
            call()


def test_older_schema_error_says_what_to_run(fresh: Queue) -> None:
    fresh.sql(
        "delete from minutehand.migrations where version = (select max(version) from minutehand.migrations)"
    )
    with pytest.raises(SchemaError, match="1 migration older than this code; run: minutehand migrate"):
        check_schema(fresh.database)


@pytest.mark.parametrize("call", [check_schema, status, migrate, migration_sql])
def test_newer_schema_error_says_what_to_do(fresh: Queue, call: Callable[..., object]) -> None:
    fresh.sql("insert into minutehand.migrations values (99, 'future', 'x')")
    known = max(step.version or 0 for step in migrations())
    with pytest.raises(
        SchemaError, match=f"version 99, newer than this code, which knows {known}: update minutehand"
    ):
        call(fresh.database)


@pytest.mark.parametrize("call", [check_schema, status, migrate, migration_sql])
def test_changed_migration_is_an_error(fresh: Queue, call: Callable[..., object]) -> None:
    fresh.sql("update minutehand.migrations set checksum = 'x' where version = 2")
    with pytest.raises(SchemaError, match=r"migration 2 \(records\) was changed after it was applied here"):
        call(fresh.database)


@pytest.mark.parametrize("call", [check_schema, status, migrate, migration_sql])
def test_pre_release_schema_error_says_to_recreate_it(fresh: Queue, call: Callable[..., object]) -> None:
    fresh.sql("drop table minutehand.schema_files")
    with pytest.raises(
        SchemaError, match=r"pre-release version of minutehand.*drop schema minutehand cascade"
    ):
        call(fresh.database)


def test_every_step_begins_with_its_purpose() -> None:
    assert all(step.text.startswith("-- ") for step in steps())
    assert [step.label for step in steps() if not step.reason.endswith(".")] == []
    versions = [step.version or 0 for step in migrations()]
    assert versions == sorted(set(versions))
    assert versions[:3] == [1, 2, 3]
