"""The Spark session: a cluster's own where there is one, else one on all cores of this machine."""

import logging
import os
import signal
import sys
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from threading import current_thread, main_thread
from typing import IO, TYPE_CHECKING, Any

from minutehand_pipeline.errors import MissingError
from minutehand_pipeline.java import ensure_java

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

LOG = logging.getLogger("minutehand_pipeline")

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

    `cores` and `settings` are for the last only. What Java says on its standard streams is then kept from a person's
    eyes, unless the logger `minutehand_pipeline` is at DEBUG. Raises MissingError without Spark or Java.
    """
    try:
        from pyspark.sql import SparkSession
    except ModuleNotFoundError as error:
        raise MissingError("Spark is an extra; run: pip install 'minutehand[pipeline,spark]'") from error
    active = SparkSession.getActiveSession()
    with _ctrl_c_as_it_was():
        spark = active or (_given(name) if _is_given() else _local(name, cores, settings))
    for setting, value in ALWAYS.items():
        spark.conf.set(setting, value)
    return spark


@contextmanager
def _ctrl_c_as_it_was() -> Iterator[None]:
    """Undo Spark's own handler, which puts a question to Java in the middle of another, and breaks both."""
    before = signal.getsignal(signal.SIGINT)
    yield
    if before is not None and current_thread() is main_thread():
        signal.signal(signal.SIGINT, before)


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

    cores = cores or os.cpu_count() or 1
    facts = {
        "spark.app.name": name,
        "spark.master": f"local[{cores},{RETRIES}]",
        "spark.driver.memory": os.environ.get("SPARK_DRIVER_MEMORY", "2g"),
        "spark.sql.shuffle.partitions": str(cores),
        **ALONE,
        **ALWAYS,
        **settings,
    }
    _start_java(facts)
    builder = SparkSession.builder
    for setting, value in facts.items():
        builder = builder.config(setting, value)
    return builder.getOrCreate()


def _start_java(facts: Mapping[str, str]) -> None:
    """Start the Java that the session will find, unless this process has one already."""
    from pyspark import SparkConf, SparkContext
    from pyspark.errors import PySparkRuntimeError
    from pyspark.java_gateway import launch_gateway

    if SparkContext._gateway is not None:
        return
    ensure_java()
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    # A machine whose own name leads nowhere is none of Spark's business: all of it is on the loopback.
    os.environ.setdefault("SPARK_LOCAL_IP", "127.0.0.1")
    os.environ.setdefault("SPARK_LOCAL_HOSTNAME", "localhost")
    conf = SparkConf().setAll(list(facts.items()))
    with tempfile.TemporaryFile() as said:
        try:
            SparkContext(conf=conf, gateway=launch_gateway(conf, _streams(said)))  # type: ignore[no-untyped-call]
        except PySparkRuntimeError as error:
            raise MissingError(f"Java did not start for Spark: {_last_words(said)}") from error


def _streams(said: IO[bytes]) -> dict[str, Any]:
    """Where Java's standard streams lead: neither its greetings nor a worker's last words are for everybody."""
    loud = LOG.isEnabledFor(logging.DEBUG)
    return {"stdout": sys.__stderr__ if loud else said, "stderr": sys.__stderr__ if loud else said}


def _last_words(said: IO[bytes]) -> str:
    said.seek(0)
    lines = said.read().decode(errors="replace").strip().splitlines()
    return lines[-1] if lines else "it said nothing (--debug shows what it says)"
