"""A browser for the page, and frames of the lake from a few columns."""

from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any

import pytest
from playwright.sync_api import Browser
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import types as T

from minutehand_pipeline.schemas import ATTEMPTS, JOBS
from tests.browsers import chromium

JOB = {
    "tenant": "",
    "queue": "default",
    "kind": "email",
    "state": "done",
    "attempts": 1,
    "payload": '{"secret": 1}',
}
ATTEMPT = {"tenant": "", "queue": "default", "kind": "email", "attempt": 1, "outcome": "done"}


@pytest.fixture(scope="package")
def browser() -> Iterator[Browser]:
    """The browser of this machine."""
    with chromium() as opened:
        yield opened


def at(text: str) -> datetime:
    """Return a UTC time in 2026, such as 03-31 12:00:00.5."""
    return datetime.fromisoformat(f"2026-{text}").replace(tzinfo=UTC)


def jobs_frame(spark: SparkSession, *rows: dict[str, Any]) -> DataFrame:
    """Return jobs of the lake. A row has at least `deleted`."""
    return _frame(
        spark,
        JOBS,
        [{**JOB, "id": f"job{n}", "day": row["deleted"].date(), **row} for n, row in enumerate(rows)],
    )


def attempts_frame(spark: SparkSession, *rows: dict[str, Any]) -> DataFrame:
    """Return attempts of the lake. A row has at least `ended`."""
    return _frame(spark, ATTEMPTS, [{**ATTEMPT, "day": row["ended"].date(), **row} for row in rows])


def _frame(spark: SparkSession, schema: T.StructType, rows: list[dict[str, Any]]) -> DataFrame:
    return spark.createDataFrame([tuple(row.get(name) for name in schema.names) for row in rows], schema)
