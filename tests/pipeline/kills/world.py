"""A database and a lake, the rows that the lake must have, and those that it has."""

import os
import shutil
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import duckdb
import psycopg
import pyarrow as pa
from deltalake import DeltaTable

from bench.server import fresh
from tests.pipeline.load.gates import until

NAME = "minutehand_bench_kills"
# By table of the lake: the rows that it must have, and the same columns in the lake. Personal payloads stay out of it.
TABLES = {
    "jobs": (
        """select id::text, (extract(epoch from deleted) * 1000000)::bigint as at, 0 as attempt, ack::text,
                  tenant::text, queue::text, kind::text, key::text, attempts, failed, cancelled,
                  case when not personal then payload::text end as payload,
                  case when not personal then headers::text end as headers, result::text, error::text
             from minutehand.jobs where deleted is not null""",
        """select id, epoch_us(deleted) as ended_at, 0 as attempt, ack, tenant, queue, kind, key, attempts, failed,
                  cancelled, payload, headers, result, error from {}""",
    ),
    "attempts": (
        """select job::text as id, (extract(epoch from ended) * 1000000)::bigint as at, attempt,
                  (extract(epoch from started) * 1000000)::bigint as began, tenant::text, outcome::text, memory_mb,
                  request::text, error::text
             from minutehand.attempts""",
        """select job as id, epoch_us(ended) as ended_at, attempt, epoch_us(started) as began, tenant, outcome,
                  memory_mb, request, error from {}""",
    ),
    "events": (
        """select id::text, (extract(epoch from at) * 1000000)::bigint as at, 0 as attempt, tenant::text, name::text,
                  job::text, facts::text
             from minutehand.events""",
        """select id, epoch_us("at") as ended_at, 0 as attempt, tenant, name, job, facts from {}""",
    ),
}
PRIVATE = ("key", "payload", "headers", "result", "error", "facts")
OTHERS = """select count(*) from pg_stat_activity
             where datname = current_database() and pid <> pg_backend_pid() and backend_type = 'client backend'"""
STAGED = "select count(*)::int from pg_class where relname ~ '^staged_'"


@dataclass
class World:
    """The database that every command uses, and a folder with the lake."""

    server: str
    home: Path

    @property
    def url(self) -> str:
        """The address of the database."""
        return urlsplit(self.server)._replace(path=f"/{NAME}").geturl()

    @property
    def lake(self) -> Path:
        """The lake's folder."""
        return self.home / "world" / "lake"

    def begin(self, stored: str = "") -> None:
        """Begin with an empty database and no lake, or with what was stored."""
        shutil.rmtree(self.home / "world", ignore_errors=True)
        if stored:
            shutil.copytree(self.home / stored, self.home / "world")
        else:
            (self.home / "world").mkdir()
        fresh(self.server, NAME, f"{NAME}_{stored}" if stored else "template1")

    def store(self, name: str) -> None:
        """Store the database and the folder."""
        shutil.copytree(self.home / "world", self.home / name)
        fresh(self.server, f"{NAME}_{name}", NAME)

    def sql(self, statement: str, *values: Any) -> list[tuple[Any, ...]]:
        """Run a statement in the database."""
        with psycopg.connect(self.url, autocommit=True) as connection:
            cursor = connection.execute(statement.encode(), values or None)
            return cursor.fetchall() if cursor.description else []

    def settle(self) -> None:
        """Wait until killed processes have left the database."""
        until(lambda: self.sql(OTHERS) == [(0,)], "the sessions of killed processes have ended")

    def expected(self) -> dict[str, pa.Table]:
        """Return the rows of the database, as the lake must have them."""
        return {name: self._table(text) for name, (text, _) in TABLES.items()}

    def _table(self, text: str) -> pa.Table:
        kinds = {25: pa.string(), 1043: pa.string(), 20: pa.int64(), 23: pa.int32(), 16: pa.bool_()}
        with psycopg.connect(self.url) as connection:
            cursor = connection.execute(text.encode())
            schema = pa.schema([(each.name, kinds[each.type_code]) for each in cursor.description or ()])
            return pa.Table.from_pylist(
                [dict(zip(schema.names, row, strict=True)) for row in cursor], schema=schema
            )

    def files(self, table: str) -> list[str]:
        """Return the files that a table of the lake has."""
        uri = str(self.lake / table)
        return sorted(DeltaTable(uri).file_uris()) if DeltaTable.is_deltatable(uri) else []

    def stray_files(self) -> list[str]:
        """Return the data files that are in the lake's folder, but in no table."""
        return [
            str(path)
            for table in TABLES
            for path in sorted((self.lake / table).rglob("*.parquet"))
            if "_delta_log" not in path.parts and str(path) not in set(self.files(table))
        ]

    def age_stray_files(self) -> None:
        """Let the files that killed runs left be eight days old."""
        for path in self.stray_files():
            os.utime(path, (Path(path).stat().st_mtime - 8 * 86400,) * 2)

    def rows(self, table: str, files: Iterable[str]) -> str:
        """Return a query for the rows of some files, with the columns of the expected rows."""
        return TABLES[table][1].format(f"read_parquet({list(files)}, union_by_name = true)")

    def differences(self, expected: dict[str, pa.Table], *, subset: bool = False) -> list[str]:
        """Compare the lake with the expected rows, each as often as it is there; `subset` allows rows to be missing."""
        found = []
        with duckdb.connect() as connection:
            for table, wanted in expected.items():
                connection.register("wanted", wanted)
                files = self.files(table)
                lake = self.rows(table, files) if files else "from wanted limit 0"
                for what, query in (
                    ("rows missing", f"(from wanted) except all ({lake})"),
                    ("rows too many", f"({lake}) except all (from wanted)"),
                ):
                    if subset and what == "rows missing":
                        continue
                    if rows := connection.execute(query).fetchall():
                        found.append(f"{table}: {len(rows)} {what}, such as {rows[0]}")
        return found

    def ledger_differences(self) -> list[str]:
        """Compare the number of the last batch in the lake and in the database."""
        found = []
        for home, number in self.sql(
            "select home, max(number) from minutehand.archive_batches where number >= 0 group by home"
        ):
            table = DeltaTable(str(self.lake / ("jobs" if home == "jobs_done" else home)))
            if (committed := table.transaction_version("minutehand") or 0) != number:
                found.append(f"{home}: the last batch is {committed} in the lake, {number} in the database")
        return found


def minus(table: pa.Table, other: pa.Table) -> pa.Table:
    """Return the rows that one table has and the other does not."""
    with duckdb.connect() as connection:
        connection.register("one", table)
        connection.register("two", other)
        found: pa.Table = connection.sql("(from one) except all (from two)").to_arrow_table()
        return found.cast(table.schema)
