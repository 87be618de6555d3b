"""Databases to load into, input files, and gates at which a load waits."""

from collections.abc import Iterator
from pathlib import Path

import psycopg
import pytest
from pyspark.sql import SparkSession

from minutehand.database import connect
from tests.pipeline.load.gates import GATES, ROWS
from tests.pipeline.load.stage import Stage, staged
from tests.servers import Database


@pytest.fixture
def stage(spark: SparkSession, direct_database: Database, tmp_path: Path) -> Iterator[Stage]:
    with staged(spark, direct_database, tmp_path) as made:
        yield made


@pytest.fixture
def jobs(stage: Stage) -> str:
    """Write two files, so that there are two tasks."""
    for half in (0, 1):
        lines = [f'{{"kind": "gated", "key": "k{n}", "payload": {n}}}' for n in range(half, ROWS, 2)]
        stage.file(f"in/{half}.ndjson", *lines)
    return str(stage.home / "in")


@pytest.fixture
def gates(stage: Stage) -> Iterator[psycopg.Connection]:
    stage.connection.execute(GATES)
    with connect(stage.address.admin_url) as holder:
        yield holder
