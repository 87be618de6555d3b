"""Databases with and without the schema, and the catalog of a schema."""

from collections.abc import Iterator

import pytest

from tests.conftest import NewDatabase
from tests.queue.stage import Queue
from tests.servers import Database

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
    """Return the catalog of the schema, without the partitions of days."""
    return {(row["what"], row["name"]): row["is"] for row in queue.sql(CATALOG) if "_20" not in row["name"]}


@pytest.fixture
def empty(new_database: NewDatabase, server_name: str) -> Iterator[Queue]:
    """A database without the schema."""
    database = new_database(server_name, migrated=False)
    queue = Queue(database.url, database.admin_url)
    yield queue
    queue.close()


@pytest.fixture
def fresh(fresh_database: Database) -> Iterator[Queue]:
    """A migrated database that no other test uses."""
    queue = Queue(fresh_database.url, fresh_database.admin_url)
    yield queue
    queue.close()
