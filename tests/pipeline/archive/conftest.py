"""A queue and a lake for each test."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from minutehand.database import Connection, connect
from tests.pipeline.archive.stage import Stage
from tests.pipeline.history import fill_history
from tests.servers import Database


@pytest.fixture
def stage(spark: SparkSession, direct_database: Database, tmp_path: Path) -> Stage:
    return Stage(spark, direct_database, tmp_path)


@pytest.fixture
def connection(direct_database: Database) -> Iterator[Connection]:
    with connect(direct_database.url) as connection:
        fill_history(connection, 40)
        yield connection
