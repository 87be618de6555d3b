"""One Spark session for all tests of the pipeline, and databases with a history."""

import os
import sys
from collections.abc import Iterator

import pyspark
import pytest
from pyspark.sql import SparkSession

from minutehand_pipeline.session import JAVA_OPTIONS, MEDIUM, build_session
from tests.pipeline.object_store import store, store_server

__all__ = ["store", "store_server"]

# Settings of the developer's shell must not affect tests.
for name in ("PYSPARK_SUBMIT_ARGS", "SPARK_CONF_DIR", "SPARK_HOME", "JDK_JAVA_OPTIONS", "SPARK_REMOTE"):
    os.environ.pop(name, None)
# Spark 4.0's assertDataFrameEqual imports pandas on Spark, which requires this before a session exists.
os.environ["PYARROW_IGNORE_TIMEZONE"] = "1"
os.environ["PYSPARK_PYTHON"] = os.environ["PYSPARK_DRIVER_PYTHON"] = sys.executable

QUICK = {
    # Only the first-level compiler, which is faster for short runs.
    JAVA_OPTIONS: MEDIUM[JAVA_OPTIONS],
    # Compiling a query takes longer than running it on a few rows.
    "spark.sql.codegen.wholeStage": "false",
    "spark.sql.adaptive.enabled": "false",
}


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Ignore warnings of Spark 4.0, which leaves the socket of a collect to the garbage collector."""
    if pyspark.__version__ < "4.1":
        for item in items:
            item.add_marker(pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning"))


@pytest.fixture(scope="session")
def spark() -> Iterator[SparkSession]:
    """The session of this process: two cores, up to four attempts per task."""
    session = build_session("minutehand tests", cores=2, settings=QUICK)
    yield session
    session.stop()


@pytest.fixture(autouse=True)
def zone_other_than_utc(monkeypatch: pytest.MonkeyPatch) -> None:
    """Set another time zone, so that tests fail if the machine's zone matters."""
    monkeypatch.setenv("TZ", "Asia/Kolkata")
