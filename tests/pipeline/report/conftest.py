"""A browser for the page, and rows of the lake from the few columns that a test is about."""

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
    """The browser of this machine, no longer than these tests last."""
    with chromium() as opened:
        yield opened


def at(text: str) -> datetime:
    """Return a moment of UTC, as 03-31 12:00:00.5, in 2026."""
    return datetime.fromisoformat(f"2026-{text}").replace(tzinfo=UTC)


def jobs_frame(spark: SparkSession, *rows: dict[str, Any]) -> DataFrame:
    """Return jobs of the lake; a row says what the test is about, `deleted` at least."""
    return _frame(spark, JOBS, [{**JOB, "id": f"job{n}", "day": row["deleted"].date(), **row}
                                for n, row in enumerate(rows)])  # fmt: skip


def attempts_frame(spark: SparkSession, *rows: dict[str, Any]) -> DataFrame:
    """Return attempts of the lake, likewise with `ended`."""
    return _frame(spark, ATTEMPTS, [{**ATTEMPT, "day": row["ended"].date(), **row} for row in rows])


def _frame(spark: SparkSession, schema: T.StructType, rows: list[dict[str, Any]]) -> DataFrame:
    return spark.createDataFrame([tuple(row.get(name) for name in schema.names) for row in rows], schema)
