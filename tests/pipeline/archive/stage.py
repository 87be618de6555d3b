"""A queue with a history and a lake, and the keys of the rows in both."""

from collections import Counter
from dataclasses import dataclass, field
from datetime import date, timedelta
from pathlib import Path
from typing import Any

from pyspark.sql import SparkSession

from minutehand.database import Connection, connect
from minutehand_pipeline.archive.archive import ArchiveConfig, ArchiveResult, archive
from minutehand_pipeline.archive.archiver import Archiver
from minutehand_pipeline.lake import Lake
from minutehand_pipeline.lake.frames import read_lake
from minutehand_pipeline.schemas import HOMES
from tests.pipeline.history import fill_history
from tests.servers import Database

DAY = date(2026, 3, 31)
KEYS = {
    "jobs_done": "id::text, extract(epoch from deleted)::text, ack::text",
    "attempts": "job::text, extract(epoch from ended)::text, attempt::text",
    "events": "id::text, extract(epoch from at)::text, ''",
}
LAKE_KEYS = {
    "jobs_done": ("id", "deleted", "ack"),
    "attempts": ("job", "ended", "attempt"),
    "events": ("id", "at", "''"),
}


def as_text(name: str) -> str:
    if name in ("deleted", "ended", "at"):
        return f"cast(cast(unix_micros({name}) / 1000000.0 as decimal(38,6)) as string)"
    return f"cast({name} as string)"


def ask(connection: Connection, statement: str, *parameters: Any) -> Any:
    [(value,)] = connection.execute(statement, list(parameters)).fetchall()  # type: ignore[call-overload]
    return value


@dataclass
class Stage:
    """A database, a lake, and a session."""

    spark: SparkSession
    database: Database
    home: Path
    location: dict[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        secret = self.home / "url"
        secret.write_text(self.database.url)
        self.location = {"url_file": str(secret)}

    @property
    def lake(self) -> Lake:
        return Lake(str(self.home / "lake"))

    def fill(self, jobs: int = 60, days: int = 1) -> list[date]:
        with connect(self.database.url) as connection:
            return fill_history(connection, jobs, days=days)

    def sql(self, statement: str, *parameters: Any) -> list[tuple[Any, ...]]:
        with connect(self.database.url) as connection:
            cursor = connection.execute(statement, list(parameters) or None)  # type: ignore[call-overload]
            return cursor.fetchall() if cursor.description else []

    def archive(self, archiver: Any = Archiver, **options: Any) -> ArchiveResult:
        defaults = {"lake": self.lake, "location": self.location, "wait": timedelta(seconds=30)}
        return archive(self.spark, ArchiveConfig(**{**defaults, **options}), archiver=archiver)

    def queued(self, home: str = "jobs_done") -> Counter[tuple[Any, ...]]:
        return Counter(self.sql(f"select {KEYS[home]} from minutehand.{home}"))

    def archived(self, home: str = "jobs_done") -> Counter[tuple[Any, ...]]:
        """The keys in the lake, with times in seconds as the database writes them."""
        frame = read_lake(self.spark, self.lake, HOMES[home]).selectExpr(*map(as_text, LAKE_KEYS[home]))
        return Counter(tuple(row) for row in frame.collect())
