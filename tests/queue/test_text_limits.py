"""Every stored text has a limit: what people enter is refused above it, and what the library writes is shortened."""

import json
import re
from typing import LiteralString
from uuid import uuid4

import psycopg
import pytest

from minutehand import InvalidJobError, NewJob
from minutehand.attempts.in_turn import run_jobs
from minutehand.claim import take
from minutehand.handlers import HandlerTable
from minutehand.model.new_job import OPTIONS
from minutehand.model.worker import Worker
from minutehand.operations.audit import list_audit, record
from minutehand.operations.controls import pause
from minutehand.operations.jobs import cancel
from minutehand.schedules import Schedule, install
from tests.queue.stage import GRACE, LEASE, Queue
from tests.unit.option_place import TEXTS
from tests.unit.option_places import unlimited_texts

RETRY = '{"max": 1, "min": 0, "factor": 1.%s, "jitter": true, "strategy": "fixed"}'
ON_DEAD = '{"kind": "a", "payload": {"a": "%s"}}'
KIB, MIB = 1024, 1024 * 1024
# The domains of texts: the largest size, and an expression for a value of the size n.
DOMAINS: dict[str, tuple[int, str]] = {
    "any_group": (KIB, "repeat('x', {n})"),
    "any_key": (KIB, "repeat('x', {n})"),
    "any_kind": (100, "repeat('x', {n})"),
    "any_queue": (100, "repeat('x', {n})"),
    "error": (64 * KIB, "to_jsonb(repeat('x', {n} - 2))"),
    "every": (200, "repeat('x', {n})"),
    "facts": (64 * KIB, "to_jsonb(repeat('x', {n} - 2))"),
    "headers": (8 * KIB, "jsonb_build_object('a', repeat('x', {n} - 9))"),
    "job_group": (KIB, "repeat('x', {n})"),
    "job_template": (65 * MIB, "to_json(repeat('x', {n} - 2))"),
    "key": (KIB, "repeat('x', {n})"),
    "kind": (100, "repeat('x', {n})"),
    "label": (200, "repeat('x', {n})"),
    "load_name": (200, "repeat('x', {n})"),
    "on_dead": (8 * KIB, f"format('{ON_DEAD}', repeat('x', {{n}} - {len(ON_DEAD) - 2}))::json"),
    "payload": (64 * MIB, "to_json(repeat('x', {n} - 2))"),
    "queue": (100, "repeat('x', {n})"),
    "rate_value": (2 * KIB, "repeat('x', {n})"),
    "reason": (1000, "repeat('x', {n})"),
    "result": (128 * MIB, "to_json(repeat('x', {n} - 2))"),
    "retry": (1000, f"format('{RETRY}', repeat('0', {{n}} - {len(RETRY) - 2}))::jsonb"),
    "schedule_name": (200, "repeat('x', {n})"),
    "source": (200, "repeat('x', {n})"),
    "staged_text": (64 * KIB, "repeat('x', {n})"),
    "tenant": (100, "repeat('x', {n})"),
    "zone": (64, "'A/' || repeat('x', {n} - 2)"),
}
# Only `migrate` writes these tables: names and checksums of the library's own files.
LEDGER = ("migrations", "schema_files")
# The names of what limits hold back have limits where they come from, and a tick stores at most a thousand.
# The functions that write a job cast its other texts to domains; tests/unit/option_places.py finds a missing cast.
ELSEWHERE = {"positions.blocked_by", *(f"jobs.{name}" for name in unlimited_texts())}
# Every column that may hold a text, with its type and the constraints of its table and its domain.
COLUMNS: LiteralString = """
select c.relname as table, a.attname as column, t.typname as type,
       array(select pg_get_constraintdef(k.oid) from pg_constraint k
              where k.conrelid = c.oid and k.contype = 'c'
              union all
             select replace(pg_get_constraintdef(k.oid), 'VALUE', a.attname::text)
               from pg_constraint k where k.contypid = t.oid) as checks
  from pg_attribute a
  join pg_class c on c.oid = a.attrelid
  join pg_type t on t.oid = a.atttypid
  join pg_type b on b.oid = coalesce(nullif(t.typbasetype, 0), t.oid)
 where c.relnamespace = 'minutehand'::regnamespace and c.relkind in ('r', 'p') and not c.relispartition
   and a.attnum > 0 and not a.attisdropped
   and (b.typname in ('text', 'varchar', 'bpchar', 'json', 'jsonb', 'xml', 'bytea', 'hstore')
        or b.typcategory = 'A' and b.typname not in ('_int2', '_int8'))
"""


# The texts among the columns that COPY fills.
STAGED = [*(name for name, option in OPTIONS.items() if option.sql in TEXTS), "schedule"]


def bounded(column: str, kind: str, checks: list[str]) -> bool:
    """Return whether a column has a domain with a limit, or a CHECK that casts it, lists its values or counts them."""
    casts = {
        domain
        for check in checks
        for domain in re.findall(rf'\(?"?\b{column}"?\)?::minutehand\.(\w+)', check)
    }
    listed = any(re.search(rf"\b{column} = ANY \(ARRAY\[", check) for check in checks)
    counted = any(f"cardinality({column}) <=" in check for check in checks)
    return kind in DOMAINS or bool(casts & DOMAINS.keys()) or listed or counted


def test_every_text_column_has_a_limit(queue: Queue) -> None:
    columns = [row for row in queue.sql(COLUMNS) if row["table"] not in LEDGER]
    unlimited = [
        name
        for row in columns
        if (name := f"{row['table']}.{row['column']}") not in ELSEWHERE
        and not bounded(row["column"], row["type"], row["checks"])
    ]

    assert len(columns) > 50
    assert unlimited == []


def test_every_domain_of_texts_has_a_limit(queue: Queue) -> None:
    domains = queue.sql(
        """select typname from pg_type
            where typnamespace = 'minutehand'::regnamespace and typtype = 'd'
              and typbasetype in ('text'::regtype, 'json'::regtype, 'jsonb'::regtype)
              -- It lists its values.
              and typname <> 'after_failure'"""
    )

    assert {row["typname"] for row in domains} == DOMAINS.keys()


@pytest.mark.parametrize("domain", DOMAINS)
def test_domain_accepts_its_limit_and_no_more(queue: Queue, domain: str) -> None:
    limit, value = DOMAINS[domain]
    cast = f"select octet_length(({value})::minutehand.{domain}::text) as size"

    assert queue.sql(cast.replace("{n}", str(limit))) == [{"size": limit}]  # type: ignore[arg-type]
    with pytest.raises(psycopg.errors.CheckViolation):
        queue.sql(cast.replace("{n}", str(limit + 1)))  # type: ignore[arg-type]


@pytest.mark.parametrize("column", STAGED)
def test_staged_item_is_checked(queue: Queue, column: str) -> None:
    value = {"retry": RETRY % ("0" * 1000), "on_dead": ON_DEAD % ("x" * 9000), "payload": None}.get(
        column, "x" * 1100
    )
    value = json.dumps({"a": "x" * 9000}) if column == "headers" else value
    expression = DOMAINS["payload"][1].replace("{n}", str(64 * MIB + 1)) if value is None else "%(value)s"

    with pytest.raises(psycopg.errors.CheckViolation):
        queue.sql(
            f'insert into minutehand.new_jobs (load, ordinal, "{column}") values (gen_random_uuid(), 1, {expression})',  # type: ignore[arg-type]
            value=value,
        )


def test_error_names_the_limit_and_the_received_length(queue: Queue) -> None:
    job_id = queue.enqueue()
    for call in (
        lambda reason: pause(queue.database, queue="default", reason=reason),
        lambda reason: cancel(queue.database, [job_id], reason=reason),
    ):
        with pytest.raises(
            InvalidJobError, match=r"^reason must have at most 1000 characters, got 1001$"
        ) as refused:
            call("x" * 1001)
        assert refused.value.rule == "reason_fits"
        call("x" * 1000)


@pytest.mark.parametrize(
    ("key", "message"), [("k" * 1025, "got 1025 bytes"), (["é" * 500, "k" * 100], "got 1101 bytes")]
)
def test_error_of_a_long_key_names_its_length(queue: Queue, key: object, message: str) -> None:
    with pytest.raises(InvalidJobError, match=message):
        queue.enqueue(key=key)


def test_source_of_schedules_has_a_limit(queue: Queue) -> None:
    with pytest.raises(InvalidJobError, match="source must have at most 200 characters, got 201"):
        install(queue.database, [Schedule("a", "@daily", NewJob("echo"))], source="x" * 201)


def test_worker_and_version_of_any_length_are_shortened(queue: Queue) -> None:
    long = "\udc80" + "x" * 300
    job_id = queue.enqueue()
    worker = Worker(long, long, 128, long)
    run_jobs(
        take(queue.database, "default", 1, LEASE, GRACE, worker=worker),
        HandlerTable({"echo": lambda _: None}),
        stopping=lambda: False,
    )

    (attempt,) = queue.sql("select outcome, worker, request, version from minutehand.attempts")
    short = "?" + "x" * 199
    assert attempt == {"outcome": "done", "worker": short, "request": short, "version": short}
    assert queue.row(job_id).version == short


def test_error_of_any_length_ends_the_job(queue: Queue) -> None:
    name = "E" * 10_000

    def handler(_payload: object) -> None:
        raise type(name, (Exception,), {})("\x01" * 100_000)

    job_id, ending = queue.attempt(handler, max_attempts=1)

    assert ending.ending == "dead"
    assert (queue.row(job_id).error or {})["type"] == name[:200]


def test_audit_entry_is_written_whatever_its_size(queue: Queue) -> None:
    record(queue.database, "pause", "a" * 1000, reason="x" * 100_000)

    (entry,) = list_audit(queue.database)
    assert entry.actor == "a" * 130
    assert entry.facts == {"omitted": "100014 bytes"}


def test_long_actor_does_not_hide_a_bound_login(queue: Queue) -> None:
    queue.sql("insert into minutehand.tenant_roles values (session_user, 'acme')")
    queue.sql("select minutehand.record_audit(repeat('a', 1000), 'pause', '{null}', '{\"{}\"}', '{acme}')")

    (row,) = queue.sql("select actor, session_user::text as login from minutehand.audit")
    assert row["actor"] == f"{'a' * 130} ({row['login']})"


def test_event_is_recorded_whatever_its_size(queue: Queue) -> None:
    event = {
        "id": str(uuid4()),
        "name": "n" * 300,
        "queue": "q" * 300,
        "kind": "k" * 300,
        "facts": {"a": "x" * 100_000},
    }
    queue.sql("select minutehand.keep_events(%(events)s::jsonb)", events=json.dumps([event]))

    (row,) = queue.sql("select name, queue, kind, facts from minutehand.events")
    short = {"name": "n" * 200, "queue": "q" * 200, "kind": "k" * 200}
    assert row == short | {"facts": {"omitted": "100009 bytes"}}
