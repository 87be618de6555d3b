from collections.abc import Iterator
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from tests.pipeline.load.stage import Stage, staged
from tests.servers import Database


@pytest.fixture
def stage(spark: SparkSession, direct_database: Database, tmp_path: Path) -> Iterator[Stage]:
    with staged(spark, direct_database, tmp_path) as made:
        yield made
