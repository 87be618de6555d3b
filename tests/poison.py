"""Rows with odd values in every column, as SQL can store them: each page must show them."""

from contextlib import suppress
from typing import LiteralString
from uuid import UUID

import psycopg
from psycopg import sql

JSON: list[LiteralString] = [
    "'[1]'",
    "'\"text\"'",
    "'1'",
    "'null'",
    "'{}'",
    """'{"type": 1, "message": null, "trace": ["a"], "minutehand": 1}'""",
    """'{"kind": 1, "retry": [], "timeout": "long", "headers": [1], "debounce": 5, "payload": {}}'""",
    """'{"kind": "echo", "retry": {"strategy": "often"}, "timeout": "1e999 s", "priority": "first"}'""",
    """'{"kind": "echo", "on_dead": {"kind": "alert", "payload": {"a": "private"}, "headers": {"b": "private"}}}'""",
    """(repeat('{"kind": "echo", "on_dead": ', 300) || '{}' || repeat('}', 300))""",
    "(repeat('[', 400) || repeat(']', 400))",
    "(repeat('[', 960) || repeat(']', 960))",
]
# By type. `json` has these in addition to those of jsonb, which normalizes its values.
VALUES: dict[str, list[LiteralString]] = {
    "timestamptz": [
        "'infinity'",
        "'-infinity'",
        "'4000-01-01 BC'",
        "'200000-01-01'",
        "'0001-01-02 00:00+00'",
        "'9999-12-30 23:59:59.999999+00'",
        "'9999-12-31 23:59:59.999999+00'",
    ],
    "jsonb": JSON,
    "json": [
        *JSON,
        "(repeat('[', 5000) || repeat(']', 5000))",
        "repeat('9', 5000)",
        "'1e999'",
        """'"\\ud800 \\u0000"'""",
    ],
    "text": [
        "''",
        "e'\\x1b]0;title\\x07\\x1b[31m\\n\\u202e'",
        "'<script>\"''{}'",
        "repeat('x', 100000)",
    ],
    "int4": ["-2147483648", "0", "2147483647"],
    "int8": ["-9223372036854775808", "0"],
    "interval": ["'-178000000 years'", "'178000000 years'", "'-1 microsecond'", "'0'", "'infinity'"],
    "bool": ["true", "false"],
    "uuid": ["'00000000-0000-0000-0000-000000000000'"],
    "uuid[]": ["'{}'", "'{null}'", "'{00000000-0000-0000-0000-000000000000}'"],
}
# A row of each table that pages show; `%s` is the number of the row.
ROWS: dict[str, LiteralString] = {
    "jobs": """insert into minutehand.jobs_live (queue, kind, key, ack, claimed, offered, visible, attempts, error)
               values ('poison', 'echo', 'k%s', gen_random_uuid(), now(), now() - interval '1 hour', '2095-01-01', 1,
                       '{"type": "ValueError", "message": "no", "trace": "here"}')""",
    "attempts": """insert into minutehand.attempts (job, attempt, started, queue, kind, outcome)
                   values ('01a1fe30-d3a6-7c72-8ab3-9322193cd77e', %s, now(), 'poison', 'echo', 'retrying')""",
    "events": "insert into minutehand.events (name, kind, facts) values ('done', 'echo', '{\"n\": %s}')",
    "audit": "insert into minutehand.audit (actor, verb, facts) values ('ada', 'cancel', '{\"n\": %s}')",
    "schedules": """insert into minutehand.schedules (name, every, job, next, wake, paused)
                    values ('s%s', '@daily', '{"kind": "echo"}', '2095-01-01', '2095-01-01', true)""",
    "firings": """insert into minutehand.firings (schedule, nominal, outcome)
                  values ('s1', now() + %s * interval '1 hour', 'fired')""",
    "defaults": "insert into minutehand.defaults (kind) values ('k%s')",
    "queue_defaults": "insert into minutehand.queue_defaults (queue) values ('q%s')",
    "retention": "insert into minutehand.retention (queue, what, keep) values ('q%s', 'done', '1 day')",
    "controls": "insert into minutehand.controls (queue, kind, paused) values ('q%s', 'echo', true)",
}
COLUMNS = """
select a.attname as name, coalesce(nullif(t.typbasetype, 0), t.oid)::regtype::text as type
  from pg_attribute a join pg_type t on t.oid = a.atttypid
 where a.attrelid = %s::regclass and a.attnum > 0 and not a.attisdropped and a.attgenerated = ''
   and a.attname <> 'id'
   -- The pages of one job and one schedule list these by the first row.
   and a.attrelid::regclass || '.' || a.attname not in ('minutehand.attempts.job', 'minutehand.firings.schedule')
 order by a.attnum
"""
NAMES = {
    "timestamp with time zone": "timestamptz",
    "integer": "int4",
    "bigint": "int8",
    "boolean": "bool",
}
CHANGE: LiteralString = "update minutehand.{} t set {} = ({})::{} where t.ctid = %s and t.tableoid = %s"
REFUSED = (psycopg.IntegrityError, psycopg.DataError, psycopg.OperationalError)


def poison(url: str) -> set[str]:
    """Write a row for each column of each table and each odd value, unless a rule of the schema refuses it.

    Return the columns that have an odd value.
    """
    poisoned = set()
    with psycopg.connect(url, autocommit=True) as admin:
        for table, insert in ROWS.items():
            columns: list[tuple[str, str]] = admin.execute(COLUMNS, [f"minutehand.{table}"]).fetchall()
            cases = [
                (name, kind, value)
                for name, kind in columns
                for value in (*VALUES[NAMES.get(kind, kind)], "null")
            ]
            for number, (name, kind, value) in enumerate(cases, 1):
                change = sql.SQL(CHANGE).format(
                    sql.Identifier(table), sql.Identifier(name), sql.SQL(value), sql.SQL(kind)
                )
                with suppress(*REFUSED), admin.transaction():
                    row = admin.execute(
                        f"{insert} returning ctid, tableoid".replace("%s", str(number)).encode()
                    )
                    admin.execute(change, row.fetchone())
                    poisoned.add(f"{table}.{name}")
    return poisoned


def job_ids(url: str) -> list[UUID]:
    """Return the ids of all jobs."""
    with psycopg.connect(url) as admin:
        return [row[0] for row in admin.execute("select id from minutehand.jobs order by id").fetchall()]
