"""A Spark error becomes one message, and Ctrl-C leaves no process behind."""

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import psutil
import pyarrow as pa
import pytest
from pyspark.sql import SparkSession

from minutehand.errors import UnreachableError
from minutehand_pipeline.errors import InputError, PipelineError
from minutehand_pipeline.failures import translate, translated_errors
from tests.pipeline.running import ROOT, SECONDS, clean_environment, run, until

pytestmark = pytest.mark.long

STAGE = ["-m", "tests.pipeline.stage"]
Batches = Iterator[pa.RecordBatch]


def test_pipeline_error_in_a_task_reaches_the_driver(spark: SparkSession) -> None:
    def refuse(_batches: Batches) -> Batches:
        raise InputError("the file is incomplete; write it again")

    with pytest.raises(InputError, match=r"^the file is incomplete; write it again$"), translated_errors():
        spark.range(1).mapInArrow(refuse, "id long").count()


def test_unreachable_database_in_a_task_is_reported(spark: SparkSession) -> None:
    def reach(_batches: Batches) -> Batches:
        raise UnreachableError("no Postgres answers; is it running?")

    with pytest.raises(UnreachableError, match=r"^no Postgres answers"), translated_errors():
        spark.range(1).mapInArrow(reach, "id long").count()


def test_foreign_error_in_a_task_is_named(spark: SparkSession) -> None:
    def stumble(_batches: Batches) -> Batches:
        raise KeyError("day")

    with (
        pytest.raises(PipelineError, match=r"^Spark: a task failed with KeyError: 'day'$"),
        translated_errors(),
    ):
        spark.range(1).mapInArrow(stumble, "id long").count()


def test_spark_error_is_reduced_to_its_first_line(spark: SparkSession) -> None:
    with pytest.raises(PipelineError) as refused, translated_errors():
        spark.read.parquet("/nowhere/at/all").count()

    assert str(refused.value).startswith("Spark: [PATH_NOT_FOUND] Path does not exist")
    assert "\n" not in str(refused.value) and "SQLSTATE" not in str(refused.value)


def test_out_of_memory_error_says_how_to_get_more() -> None:
    error = translate(
        "An error occurred while calling o1.x.\n: java.lang.OutOfMemoryError: Java heap space\n\tat a.b(C)"
    )

    assert "SPARK_DRIVER_MEMORY=4g" in str(error)


def test_other_errors_are_not_translated() -> None:
    with pytest.raises(ZeroDivisionError), translated_errors():
        raise ZeroDivisionError


@pytest.mark.parametrize("how", ["path", "java"])
def test_error_is_one_line_without_java_output(how: str) -> None:
    done = run(*STAGE, "fail", how)

    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr.count("\n") == 1
    assert done.stderr.startswith(
        {"path": "error: Spark: [PATH_NOT_FOUND]", "java": "error: Spark's Java"}[how]
    )


def test_debug_shows_traceback_and_java_output() -> None:
    done = run(*STAGE, "fail", "path", "--debug")

    assert done.stdout == ""
    assert "Traceback" in done.stderr
    assert "log4j" in done.stderr


def test_error_quotes_a_java_that_does_not_start() -> None:
    done = run(*STAGE, "fail", "path", SPARK_DRIVER_MEMORY="9999999g")

    assert done.returncode == 1
    assert done.stderr.startswith("error: Java did not start for Spark: ")
    assert done.stderr.count("\n") == 1


def test_ctrl_c_exits_with_130_and_leaves_no_process(tmp_path: Path) -> None:
    spot = tmp_path / "spot"
    with subprocess.Popen(
        [sys.executable, *STAGE, "hold", str(spot)],
        cwd=ROOT,
        env=clean_environment({}),
        start_new_session=True,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    ) as held:
        try:
            until(spot.exists, held)
            started = psutil.Process(held.pid).children(recursive=True)
            os.killpg(held.pid, signal.SIGINT)
            out, err = held.communicate(timeout=SECONDS)
        finally:
            held.kill()

    assert started
    assert (held.returncode, out, err) == (130, b"", b"\n")
    assert psutil.wait_procs(started, timeout=60)[1] == []
