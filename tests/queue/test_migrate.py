"""The schema: applied once however often and by however many, and the same whichever way it came about."""

from collections.abc import Iterator
from typing import Any

import pytest

from minutehand import DatabaseError, SchemaError
from minutehand.maintenance import run_maintenance
from minutehand.schema.migrate import check_schema, migrate, migrations, status
from tests.conftest import NewDatabase
from tests.queue.stage import Queue

VERSIONS = [migration.version for migration in migrations()]
CATALOG = """
    select 'relation' as what, c.oid::regclass::text as name,
           concat_ws(' ', c.relkind, c.relpersistence, c.reloptions, pg_get_partkeydef(c.oid),
                     pg_get_expr(c.relpartbound, c.oid)) as is
      from pg_class c where c.relnamespace = 'minutehand'::regnamespace
    union all
    select 'column', a.attrelid::regclass || '.' || a.attname,
           concat_ws(' ', a.attnum, format_type(a.atttypid, a.atttypmod), a.attnotnull,
                     pg_get_expr(d.adbin, d.adrelid))
      from pg_attribute a join pg_class c on c.oid = a.attrelid
      left join pg_attrdef d on (d.adrelid, d.adnum) = (a.attrelid, a.attnum)
     where c.relnamespace = 'minutehand'::regnamespace and not a.attisdropped
    union all
    select 'constraint', concat(nullif(conrelid, 0)::regclass, nullif(contypid, 0)::regtype, ' ', conname),
           pg_get_constraintdef(oid)
      from pg_constraint where connamespace = 'minutehand'::regnamespace
    union all
    select 'index', indexname, indexdef from pg_indexes where schemaname = 'minutehand'
    union all
    select 'function', oid::regprocedure::text, pg_get_functiondef(oid)
      from pg_proc where pronamespace = 'minutehand'::regnamespace
    union all
    select 'trigger', tgrelid::regclass || ' ' || tgname, pg_get_triggerdef(t.oid)
      from pg_trigger t join pg_class c on c.oid = tgrelid where c.relnamespace = 'minutehand'::regnamespace
    union all
    select 'type', t.oid::regtype::text,
           concat_ws(' ', typtype, format_type(typbasetype, typtypmod), typnotnull, typdefault)
      from pg_type t where t.typnamespace = 'minutehand'::regnamespace and typelem = 0
     order by 1, 2"""


def catalog(queue: Queue) -> dict[tuple[str, str], str]:
    """Everything that the schema is, but for the days, of which there are others tomorrow."""
    return {
        (row["what"], row["name"]): row["is"]
        for row in queue.sql(CATALOG)
        if "jobs_done_2" not in row["name"]
    }


@pytest.fixture(params=["direct-18", "direct-15"])
def empty(request: pytest.FixtureRequest, new_database: NewDatabase) -> Iterator[Queue]:
    """A database with nothing in it, not even the schema."""
    database = new_database(request.param, migrated=False)
    queue = Queue(database.url, database.admin_url)
    yield queue
    queue.close()


@pytest.fixture(params=["direct-18", "direct-15"])
def fresh(request: pytest.FixtureRequest, new_database: NewDatabase) -> Iterator[Queue]:
    """A database that was migrated in one go."""
    database = new_database(request.param)
    queue = Queue(database.url, database.admin_url)
    yield queue
    queue.close()


def step(queue: Queue, versions: list[int]) -> None:
    """Take single steps, as the code of another day would have."""
    queue.database.run("migration_table")
    for migration in migrations():
        if migration.version in versions:
            queue.sql(migration.text)  # type: ignore[arg-type]
            noted: dict[str, Any] = {
                name: getattr(migration, name) for name in ("version", "name", "checksum")
            }
            queue.database.run("migration_applied", **noted)


def test_migrate_applies_every_step_and_says_which(empty: Queue) -> None:
    assert [migration.version for migration in migrate(empty.database)] == VERSIONS
    assert all(migration.applied for migration in status(empty.database))
    check_schema(empty.database)


def test_migrate_twice_does_nothing_the_second_time(empty: Queue) -> None:
    migrate(empty.database)
    before, noted = catalog(empty), status(empty.database)

    assert migrate(empty.database) == []
    assert (catalog(empty), status(empty.database)) == (before, noted)


def test_many_who_migrate_at_once_do_it_once(empty: Queue) -> None:
    migrating = [empty.let(lambda: migrate(empty.another())) for _ in range(6)]

    assert sorted(len(future.result()) for future in migrating) == [0] * 5 + [len(VERSIONS)]
    check_schema(empty.database)


@pytest.mark.parametrize("steps", range(1, len(VERSIONS)))
def test_migrated_step_by_step_with_rows_between_is_the_same_as_fresh(
    empty: Queue, steps: int, new_database: NewDatabase, request: pytest.FixtureRequest
) -> None:
    for version in VERSIONS[:steps]:
        step(empty, [version])
        empty.sql("insert into minutehand.jobs (kind, key) values ('echo', gen_random_uuid()::text)")
        empty.sql("insert into minutehand.jobs (kind, deleted) values ('echo', now())")
    assert [migration.version for migration in migrate(empty.database)] == VERSIONS[steps:]

    other = new_database(request.node.callspec.params["empty"])
    fresh = Queue(other.url, other.admin_url)
    there = catalog(fresh)
    fresh.close()
    assert catalog(empty) == there
    assert empty.sql("select count(*) from minutehand.jobs") == [{"count": 2 * steps}]
    run_maintenance(empty.database)
    assert len(empty.take(len(VERSIONS))) == steps


def test_a_step_that_fails_leaves_nothing_behind(empty: Queue) -> None:
    empty.sql("create schema minutehand; create table minutehand.incoming (n int)")
    with pytest.raises(DatabaseError, match="incoming"):
        migrate(empty.database)

    assert {name for what, name in catalog(empty) if what == "relation"} == {"minutehand.incoming"}


@pytest.mark.parametrize(
    ("steps", "sentence"),
    [
        (0, "the database has no minutehand schema yet; run: minutehand migrate"),
        (1, "older than this code; run: minutehand migrate"),
    ],
)
def test_a_schema_that_is_missing_or_older_is_told_with_what_to_do(
    empty: Queue, steps: int, sentence: str
) -> None:
    step(empty, VERSIONS[:steps])
    with pytest.raises(SchemaError, match=sentence):
        check_schema(empty.database)


def test_a_schema_that_is_newer_is_told_with_what_to_do(fresh: Queue) -> None:
    fresh.sql("insert into minutehand.migrations values (99, 'future', 'x')")
    for ask in (check_schema, status, migrate):
        with pytest.raises(
            SchemaError,
            match=f"version 99, newer than this code, which knows {VERSIONS[-1]}: update minutehand",
        ):
            ask(fresh.database)  # type: ignore[operator]


def test_a_step_that_was_changed_afterwards_is_told(fresh: Queue) -> None:
    fresh.sql("update minutehand.migrations set checksum = 'x' where version = 2")
    for ask in (check_schema, status, migrate):
        with pytest.raises(
            SchemaError, match=r"migration 2 \(enqueue\) was changed after it had been applied here"
        ):
            ask(fresh.database)  # type: ignore[operator]


def test_whoever_enqueues_without_the_schema_is_told_what_to_do(empty: Queue) -> None:
    with pytest.raises(SchemaError, match="run: minutehand migrate"):
        empty.enqueue()
    with pytest.raises(SchemaError, match="run: minutehand migrate"):
        empty.take()


def test_every_step_says_why_it_is_there() -> None:
    assert all(migration.why.endswith(".") for migration in migrations())
    assert VERSIONS == list(range(1, len(VERSIONS) + 1))
