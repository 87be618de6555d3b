"""The Spark session: a cluster's own where there is one, else one on all cores of this machine."""

import os
import sys
from collections.abc import Mapping
from importlib.util import find_spec
from typing import TYPE_CHECKING

from minutehand_pipeline.errors import MissingError
from minutehand_pipeline.java import ensure_java

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

# How rows are to be read and written, wherever this runs.
ALWAYS = {
    "spark.sql.session.timeZone": "UTC",  # a day is one of UTC, never of the machine
    "spark.sql.ansi.enabled": "true",
    "spark.sql.parquet.outputTimestampType": "TIMESTAMP_MICROS",  # its default is INT96, which others read badly
    "spark.sql.parquet.compression.codec": "zstd",
    "spark.sql.execution.arrow.pyspark.enabled": "true",
}

# What a cluster decides for itself.
ALONE = {
    "spark.driver.memory": "2g",
    "spark.driver.extraJavaOptions": "-XX:+UseSerialGC -Duser.timezone=UTC",
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
    "spark.driver.host": "127.0.0.1",
    "spark.driver.bindAddress": "127.0.0.1",
    "spark.log.level": "ERROR",
}

RETRIES = 4  # a plain local[n] runs each task once


def build_session(name: str, *, cores: int | None = None, settings: Mapping[str, str] = {}) -> "SparkSession":
    """Return the session to use: the active one, the one that spark-submit prepared, or a new one on this machine.

    `cores` and `settings` are for the last only; raises MissingError without Spark or Java.
    """
    if find_spec("pyspark") is None:
        raise MissingError("Spark is an extra; run: pip install 'minutehand[pipeline,spark]'")
    from pyspark.sql import SparkSession

    active = SparkSession.getActiveSession()
    spark = active or (_given(name) if _is_given() else _local(name, cores, settings))
    for setting, value in ALWAYS.items():
        spark.conf.set(setting, value)
    return spark


def _is_given() -> bool:
    return any(
        os.environ.get(said)
        for said in ("PYSPARK_GATEWAY_PORT", "SPARK_REMOTE", "SPARK_CONNECT_MODE_ENABLED")
    )


def _given(name: str) -> "SparkSession":
    from pyspark.sql import SparkSession

    return SparkSession.builder.appName(name).getOrCreate()


def _local(name: str, cores: int | None, settings: Mapping[str, str]) -> "SparkSession":
    from pyspark.sql import SparkSession

    ensure_java()
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    cores = cores or os.cpu_count() or 1
    builder = SparkSession.builder.appName(name).master(f"local[{cores},{RETRIES}]")
    for setting, value in {**ALONE, "spark.sql.shuffle.partitions": str(cores), **ALWAYS, **settings}.items():
        builder = builder.config(setting, value)
    return builder.getOrCreate()
