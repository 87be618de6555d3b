"""A database to load into, and queries on what it has afterwards."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pyspark.sql import SparkSession

from minutehand.database import Connection, connect
from minutehand_pipeline.load.load import LoadConfig, LoadResult, load
from tests.servers import Database

# Every column of a job that is deterministic.
DETERMINISTIC = (
    "tenant, queue, kind, key, payload::text, headers::text, retry::text, timeout, priority, max_attempts, personal, "
    "every, zone, nominal is null, schedule, latest, attempts, failed, cancelled, cancelling, error::text, "
    "ack is null, prior is null, offered is null, claimed is null, deleted, visible = run_at, enqueued_by"
)


@dataclass
class Stage:
    spark: SparkSession
    address: Database
    home: Path
    connection: Connection

    @property
    def location(self) -> dict[str, str]:
        return {"url_file": str(self.home / "url")}

    def file(self, name: str, *lines: str | bytes, end: str = "\n") -> str:
        path = self.home / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(
            b"".join((each if isinstance(each, bytes) else each.encode()) + end.encode() for each in lines)
        )
        return str(path)

    def load(self, *paths: str, **terms: Any) -> LoadResult:
        return load(self.spark, LoadConfig(paths, location=self.location, **terms))

    def rows(self, query: str, *values: object) -> list[tuple[Any, ...]]:
        return self.connection.execute(query, values).fetchall()

    def jobs(self, columns: str = "kind, key, payload::text") -> list[tuple[Any, ...]]:
        return self.rows(f"select {columns} from minutehand.jobs where deleted is null order by run_at, id")

    def staging(self) -> list[str]:
        return [name for (name,) in self.rows("select relname from pg_class where relname ~ '^staged_'")]


@contextmanager
def staged(spark: SparkSession, address: Database, home: Path) -> Iterator[Stage]:
    (home / "url").write_text(address.url)
    with connect(address.admin_url) as connection:
        yield Stage(spark, address, home, connection)
