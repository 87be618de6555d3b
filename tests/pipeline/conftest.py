"""One Spark session for all tests of the pipeline, and databases with a history."""

import os
import sys
from collections.abc import Iterator

import pyspark
import pytest
from pyspark.sql import SparkSession

from minutehand_pipeline.session import build_session
from tests.pipeline.object_store import store

__all__ = ["store"]

# What a developer's shell says of Spark reaches no test.
for name in ("PYSPARK_SUBMIT_ARGS", "SPARK_CONF_DIR", "SPARK_HOME", "JDK_JAVA_OPTIONS", "SPARK_REMOTE"):
    os.environ.pop(name, None)
# Spark 4.0's assertDataFrameEqual imports pandas on Spark, which wants it said before there is a session.
os.environ["PYARROW_IGNORE_TIMEZONE"] = "1"
os.environ["PYSPARK_PYTHON"] = os.environ["PYSPARK_DRIVER_PYTHON"] = sys.executable

# Only the first compiler: what runs for seconds does not wait for the second one.
QUICK = {"spark.driver.extraJavaOptions": "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC -Duser.timezone=UTC"}


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Spark 4.0 leaves the socket of a collect to the garbage collector, which warns in whichever test comes next."""
    if pyspark.__version__ < "4.1":
        for item in items:
            item.add_marker(pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning"))


@pytest.fixture(scope="session")
def spark() -> Iterator[SparkSession]:
    """The session: two cores, each task tried up to four times."""
    session = build_session("minutehand tests", cores=2, settings=QUICK)
    yield session
    session.stop()


@pytest.fixture(autouse=True)
def a_zone_that_is_not_utc(monkeypatch: pytest.MonkeyPatch) -> None:
    """The machine's zone decides nothing, or the tests show it."""
    monkeypatch.setenv("TZ", "Asia/Kolkata")
