"""What goes wrong in Spark is one sentence, and nothing is left of what Ctrl-C ends."""

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
from minutehand_pipeline.failures import in_a_sentence, told
from tests.pipeline.running import ROOT, SECONDS, run, said, until

pytestmark = pytest.mark.long

STAGE = ["-m", "tests.pipeline.stage"]
Batches = Iterator[pa.RecordBatch]


def test_what_a_task_of_ours_raises_is_the_error_that_the_driver_raises(spark: SparkSession) -> None:
    def refuse(_batches: Batches) -> Batches:
        raise InputError("the file is half there; write it again")

    with pytest.raises(InputError, match=r"^the file is half there; write it again$"), in_a_sentence():
        spark.range(1).mapInArrow(refuse, "id long").count()


def test_a_database_that_a_task_does_not_reach_is_an_error_of_the_database(spark: SparkSession) -> None:
    def reach(_batches: Batches) -> Batches:
        raise UnreachableError("no Postgres answers; is it running?")

    with pytest.raises(UnreachableError, match=r"^no Postgres answers"), in_a_sentence():
        spark.range(1).mapInArrow(reach, "id long").count()


def test_what_others_raise_in_a_task_is_named(spark: SparkSession) -> None:
    def stumble(_batches: Batches) -> Batches:
        raise KeyError("day")

    with pytest.raises(PipelineError, match=r"^Spark: a task failed with KeyError: 'day'$"), in_a_sentence():
        spark.range(1).mapInArrow(stumble, "id long").count()


def test_what_spark_refuses_is_its_first_line(spark: SparkSession) -> None:
    with pytest.raises(PipelineError) as refused, in_a_sentence():
        spark.read.parquet("/nowhere/at/all").count()

    assert str(refused.value).startswith("Spark: [PATH_NOT_FOUND] Path does not exist")
    assert "\n" not in str(refused.value) and "SQLSTATE" not in str(refused.value)


def test_a_java_without_memory_is_told_how_to_get_more() -> None:
    error = told(
        "An error occurred while calling o1.x.\n: java.lang.OutOfMemoryError: Java heap space\n\tat a.b(C)"
    )

    assert "SPARK_DRIVER_MEMORY=4g" in str(error)


def test_what_is_no_fault_of_spark_s_goes_on_as_it_is() -> None:
    with pytest.raises(ZeroDivisionError), in_a_sentence():
        raise ZeroDivisionError


@pytest.mark.parametrize("how", ["path", "java"])
def test_a_person_reads_one_line_of_what_went_wrong_and_nothing_of_what_java_says(how: str) -> None:
    done = run(*STAGE, "fail", how)

    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr.count("\n") == 1
    assert done.stderr.startswith(
        {"path": "error: Spark: [PATH_NOT_FOUND]", "java": "error: Spark's Java"}[how]
    )


def test_with_debug_a_person_reads_all_of_it() -> None:
    done = run(*STAGE, "fail", "path", "--debug")

    assert done.stdout == ""
    assert "Traceback" in done.stderr
    assert "log4j" in done.stderr


def test_a_java_that_does_not_start_is_quoted() -> None:
    done = run(*STAGE, "fail", "path", SPARK_DRIVER_MEMORY="9999999g")

    assert done.returncode == 1
    assert done.stderr.startswith("error: Java did not start for Spark: ")
    assert done.stderr.count("\n") == 1


def test_ctrl_c_ends_a_job_with_130_and_leaves_no_trace_and_no_java(tmp_path: Path) -> None:
    spot = tmp_path / "spot"
    with subprocess.Popen(
        [sys.executable, *STAGE, "hold", str(spot)], cwd=ROOT, env=said({}), start_new_session=True,
        stdout=subprocess.PIPE, stderr=subprocess.PIPE,
    ) as held:  # fmt: skip
        try:
            until(spot.exists, held)
            started = psutil.Process(held.pid).children(recursive=True)
            os.killpg(held.pid, signal.SIGINT)
            out, err = held.communicate(timeout=SECONDS)
        finally:
            held.kill()

    assert started
    assert (held.returncode, out, err) == (130, b"", b"\n")  # the line that ^C stands in is ended
    assert psutil.wait_procs(started, timeout=60)[1] == []
