"""A queue with a history, a lake, and what is in both, by the keys of their rows."""

from collections import Counter
from dataclasses import dataclass, field
from datetime import date, timedelta
from pathlib import Path
from typing import Any

from pyspark.sql import SparkSession

from minutehand.database import connect
from minutehand_pipeline.archive.carry import Archiver
from minutehand_pipeline.archive.run import ArchiveConfig, ArchiveResult, run
from minutehand_pipeline.lake import Lake
from minutehand_pipeline.schemas import HOMES
from minutehand_pipeline.sources.lake import read_lake
from tests.pipeline.history import fill_history
from tests.servers import Database

DAY = date(2026, 3, 31)
KEYS = {
    "jobs_done": "id::text, extract(epoch from deleted)::text, ack::text",
    "attempts": "job::text, extract(epoch from ended)::text, attempt::text",
    "events": "id::text, extract(epoch from at)::text, ''",
}
LAKED = {
    "jobs_done": ("id", "deleted", "ack"),
    "attempts": ("job", "ended", "attempt"),
    "events": ("id", "at", "''"),
}


def as_text(name: str) -> str:
    if name in ("deleted", "ended", "at"):
        return f"cast(cast(unix_micros({name}) / 1000000.0 as decimal(38,6)) as string)"
    return f"cast({name} as string)"


@dataclass
class Stage:
    """A database, a lake, and a session."""

    spark: SparkSession
    database: Database
    home: Path
    place: dict[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        secret = self.home / "url"
        secret.write_text(self.database.url)
        self.place = {"url_file": str(secret)}

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

    def config(self, **said: Any) -> ArchiveConfig:
        return ArchiveConfig(
            **{"lake": self.lake, "place": self.place, "wait": timedelta(seconds=30), **said}
        )

    def archive(self, archiver: Any = Archiver, **said: Any) -> ArchiveResult:
        return run(self.spark, self.config(**said), archiver=archiver)

    def queued(self, home: str = "jobs_done") -> Counter[tuple[Any, ...]]:
        return Counter(self.sql(f"select {KEYS[home]} from minutehand.{home}"))

    def laked(self, home: str = "jobs_done") -> Counter[tuple[Any, ...]]:
        """The same of the lake; its moments in seconds, as the database writes them."""
        frame = read_lake(self.spark, self.lake, HOMES[home]).selectExpr(*map(as_text, LAKED[home]))
        return Counter(tuple(row) for row in frame.collect())
