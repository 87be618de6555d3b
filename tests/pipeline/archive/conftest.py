"""A queue and a lake for each test."""

from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from tests.pipeline.archive.stage import Stage
from tests.servers import Database


@pytest.fixture
def stage(spark: SparkSession, direct_database: Database, tmp_path: Path) -> Stage:
    return Stage(spark, direct_database, tmp_path)
