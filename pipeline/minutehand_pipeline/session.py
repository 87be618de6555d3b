"""The Spark session: the cluster's, or a local one on all cores of this machine."""

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
from minutehand_pipeline.priority import lower_priority
from minutehand_pipeline.shared_classes import discard, sharing_option

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

LOG = logging.getLogger("minutehand_pipeline")

# Settings that every session needs.
ALWAYS = {
    "spark.sql.session.timeZone": "UTC",
    "spark.sql.ansi.enabled": "true",
    # The default, INT96, is deprecated and other readers support it poorly.
    "spark.sql.parquet.outputTimestampType": "TIMESTAMP_MICROS",
    "spark.sql.parquet.compression.codec": "zstd",
    "spark.sql.execution.arrow.pyspark.enabled": "true",
}

JAVA_OPTIONS = "spark.driver.extraJavaOptions"

# Settings of a local session, which a cluster makes itself.
LOCAL = {
    # Spark's classes take more than 50 MB. Without room for them, Java collects all garbage several times at the start.
    JAVA_OPTIONS: "-XX:+UseSerialGC -XX:MetaspaceSize=128m -Duser.timezone=UTC",
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
    "spark.driver.host": "127.0.0.1",
    "spark.driver.bindAddress": "127.0.0.1",
    "spark.log.level": "ERROR",
    # Above this number of files, Spark would list them with a job that has a task per file.
    "spark.sql.sources.parallelPartitionDiscovery.threshold": "100000",
    # Otherwise each operation on a column calls Java about 15 times, to note the line of Python for error messages.
    "spark.python.sql.dataFrameDebugging.enabled": "false",
}

# Settings of a local session for data of medium size. Java's second compiler takes as long as the queries, and planning
# again after each stage changes nothing: the number of partitions follows the number of rows already. Without that
# compiler, Java reserves only 48 MB for compiled code. Many reports of one process fill them, and then it fails.
MEDIUM = {
    JAVA_OPTIONS: f"{LOCAL[JAVA_OPTIONS]} -XX:TieredStopAtLevel=1 -XX:ReservedCodeCacheSize=240m",
    "spark.sql.adaptive.enabled": "false",
}

# Settings of a local session for little data. Compiling queries, too, would take longer than it saves.
SMALL = {**MEDIUM, "spark.sql.codegen.wholeStage": "false"}

# Settings of a local session with many queries of much data. Java's second compiler compiles a method after ten times
# as many calls and loops as usual: by default it compiles the code of queries that have nearly ended.
LARGE = {
    JAVA_OPTIONS: f"{LOCAL[JAVA_OPTIONS]} -XX:Tier4InvocationThreshold=50000 -XX:Tier4MinInvocationThreshold=6000"
    " -XX:Tier4CompileThreshold=150000 -XX:Tier4BackEdgeThreshold=400000"
}

# Below this number of rows, data is little.
SMALL_ROWS = 200_000

# Attempts at a task; local[n] without it would make only one.
TASK_ATTEMPTS = 4


def build_session(
    name: str,
    *,
    cores: int | None = None,
    settings: Mapping[str, str] = {},
    in_background: bool = False,
) -> "SparkSession":
    """Return the active session, the one that spark-submit prepared, or a new local one.

    `cores` and `settings` apply to a local session only. With `in_background`, it leaves the processors to other
    programs. Its Java's output is hidden unless the logger `minutehand_pipeline` is at DEBUG. Raises MissingError if
    Spark or Java is not installed.
    """
    try:
        from pyspark.sql import SparkSession
    except ModuleNotFoundError as error:
        raise MissingError("Spark is not installed; run: pip install 'minutehand-pipeline[spark]'") from error
    active = SparkSession.getActiveSession()
    with _restored_sigint():
        spark = active or (
            _submitted(name) if _is_submitted() else _local(name, cores, settings, in_background)
        )
    for setting, value in ALWAYS.items():
        spark.conf.set(setting, value)
    return spark


def settings_for(
    rows: int, medium_rows: int = SMALL_ROWS, large: Mapping[str, str] = {}
) -> Mapping[str, str]:
    """Return the settings of a local session that reads this number of rows.

    `medium_rows` is the number below which they are of medium size, and `large` are the settings for more. Both depend
    on what is computed.
    """
    if rows < SMALL_ROWS:
        return SMALL
    return MEDIUM if rows < medium_rows else large


@contextmanager
def _restored_sigint() -> Iterator[None]:
    """Restore the handler of Ctrl-C. Spark's own calls Java in the middle of another call, which breaks both."""
    before = signal.getsignal(signal.SIGINT)
    yield
    if before is not None and current_thread() is main_thread():
        signal.signal(signal.SIGINT, before)


def _is_submitted() -> bool:
    names = ("PYSPARK_GATEWAY_PORT", "SPARK_REMOTE", "SPARK_CONNECT_MODE_ENABLED")
    return any(os.environ.get(name) for name in names)


def _submitted(name: str) -> "SparkSession":
    from pyspark.sql import SparkSession

    return SparkSession.builder.appName(name).getOrCreate()


def _local(name: str, cores: int | None, settings: Mapping[str, str], in_background: bool) -> "SparkSession":
    from pyspark.sql import SparkSession

    cores = cores or os.cpu_count() or 1
    options = {
        "spark.app.name": name,
        "spark.master": f"local[{cores},{TASK_ATTEMPTS}]",
        "spark.driver.memory": os.environ.get("SPARK_DRIVER_MEMORY", "2g"),
        "spark.sql.shuffle.partitions": str(cores),
        **LOCAL,
        **ALWAYS,
        **settings,
    }
    _start_java(options, in_background)
    builder = SparkSession.builder
    for setting, value in options.items():
        builder = builder.config(setting, value)
    return builder.getOrCreate()


def _start_java(options: dict[str, str], in_background: bool) -> None:
    """Start the Java that the session will use, unless this process has one. Adds to its options."""
    from pyspark import SparkContext

    if SparkContext._gateway is not None:
        return
    plain, sharing = options[JAVA_OPTIONS], sharing_option(ensure_java())
    options[JAVA_OPTIONS] = f"{plain} {sharing}".strip()
    try:
        _launch(options, in_background)
    except MissingError:
        if not sharing:
            raise
        options[JAVA_OPTIONS] = plain
        _launch(options, in_background)
        # It starts without the archive, so the archive is damaged.
        discard(sharing)


def _launch(settings: Mapping[str, str], in_background: bool) -> None:
    from pyspark import SparkConf, SparkContext
    from pyspark.errors import PySparkRuntimeError
    from pyspark.java_gateway import launch_gateway

    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    # Everything runs on the loopback interface, so the machine's name need not resolve.
    os.environ.setdefault("SPARK_LOCAL_IP", "127.0.0.1")
    os.environ.setdefault("SPARK_LOCAL_HOSTNAME", "localhost")
    conf = SparkConf().setAll(list(settings.items()))
    with tempfile.TemporaryFile() as output:
        options = {**_streams(output), "start_new_session": in_background}
        try:
            gateway = launch_gateway(conf, options)  # type: ignore[no-untyped-call]
            SparkContext(conf=conf, gateway=gateway)
        except PySparkRuntimeError as error:
            raise MissingError(f"Java did not start for Spark: {_last_line(output)}") from error
    if in_background:
        lower_priority(gateway.proc.pid)


def _streams(output: IO[bytes]) -> dict[str, Any]:
    """Return where Java's output goes: to a file, or to standard error if debugging."""
    stream = sys.__stderr__ if LOG.isEnabledFor(logging.DEBUG) else output
    return {"stdout": stream, "stderr": stream}


def _last_line(output: IO[bytes]) -> str:
    output.seek(0)
    lines = output.read().decode(errors="replace").strip().splitlines()
    return lines[-1] if lines else "no output (pass --debug to see all of it)"
