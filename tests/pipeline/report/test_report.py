"""Reports from a lake to a folder, and the command."""

import json
import subprocess
import sys
from dataclasses import replace
from datetime import date
from pathlib import Path
from typing import Any

import jsonschema
import pyarrow.parquet as pq
import pytest
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F
from pyspark.sql import types as T

from minutehand_pipeline.errors import InputError, LakeError
from minutehand_pipeline.lake import Lake
from minutehand_pipeline.lake.frames import append
from minutehand_pipeline.report.config import ReportConfig
from minutehand_pipeline.report.folder import check_folder, write_folder
from minutehand_pipeline.report.measuring import PARTITIONS
from minutehand_pipeline.report.report import make_report
from minutehand_pipeline.report.tables import TABLES
from minutehand_pipeline.schemas import HOMES
from tests.pipeline.report.conftest import at, attempts_frame, jobs_frame
from tests.pipeline.report.recording import record
from tests.pipeline.report.test_page import result as result_of_a_page

JOB = {"id": "one", "run_at": at("03-30 12:00:00"), "deleted": at("03-30 12:00:06"), "state": "dead"}
ATTEMPT = {"job": "one", "started": at("03-30 12:00:05"), "ended": at("03-30 12:00:06"), "memory_mb": 512}


def fill(lake: Path, jobs: DataFrame | None, attempts: DataFrame | None) -> Path:
    for home, frame in (("jobs_done", jobs), ("attempts", attempts)):
        if frame is not None:
            append(frame, Lake(str(lake)), HOMES[home], app="minutehand", number=1)
    return lake


def report(spark: SparkSession, lake: Path, **options: Any) -> Any:
    return make_report(lambda: spark, ReportConfig(lake=str(lake), today=date(2026, 3, 31), **options))


@pytest.mark.long
def test_report_of_a_million_jobs_matches_its_schema(spark: SparkSession, tmp_path: Path) -> None:
    lake, out = tmp_path / "lake", tmp_path / "out"
    record(spark, Lake(str(lake)), 1_000_000, 28)
    rows = sum(file.rows for file in Lake(str(lake)).table(HOMES["jobs_done"]).files())

    result = report(spark, lake, out=out)

    schema = json.loads((out / "schema.json").read_text())
    assert sorted(schema["$defs"]) == sorted(TABLES) == sorted(result.tables)
    for name in TABLES:
        rows_as_json = json.loads((out / "tables" / f"{name}.json").read_text())
        jsonschema.validate(
            rows_as_json, {**schema["$defs"][name], "$defs": schema["$defs"]}, jsonschema.Draft202012Validator
        )
        read = pq.read_table(out / "tables" / f"{name}.parquet")
        assert read.num_rows == len(rows_as_json) > 0
        assert read.schema.names == [each.name for each in TABLES[name].columns]
        assert all(field.metadata for field in read.schema)
    totals = result.summary["totals"]
    assert totals["jobs"] == rows == sum(row["jobs"] for row in result.tables["hours"])
    assert totals["jobs"] == totals["done"] + totals["dead"] + totals["cancelled"]
    assert totals["dead"] == sum(row["deaths"] for row in result.tables["failures"])
    assert totals["cost"] == pytest.approx(sum(row["cost"] for row in result.tables["costs"]))
    assert len(result.tables["failures"]) == 3  # one per message
    assert [row["within"] < 0.99 for row in result.tables["days"]].count(True) == 1  # the day with delays
    assert result.summary["advice"] and result.tables["capacity"][0]["advised"]
    page = (out / "index.html").read_text()
    assert result.headline in page and "of the payload" not in page
    assert len(page) < 300_000


@pytest.mark.long
def test_advice_is_from_the_jobs_of_the_lake(spark: SparkSession, tmp_path: Path) -> None:
    record(spark, Lake(str(tmp_path / "lake")), 1_500, 2)

    result = report(spark, tmp_path / "lake", objective=120.0)

    first, *others = result.tables["capacity"]
    assert first["advised"] and first["meets"] and min(first["within"], first["with_more"]) >= 0.99
    assert {each["mode"] for each in (first, *others)} == {"minute", "prompt", "sleep"}
    assert "Simulated: all " in result.summary["advice"][1]


@pytest.mark.long
def test_empty_lake_gets_a_page_without_numbers(spark: SparkSession, tmp_path: Path) -> None:
    (tmp_path / "lake").mkdir()

    result = report(spark, tmp_path / "lake", out=tmp_path / "out")

    assert result.headline == "No job ended from 4 to 31 March 2026."
    assert "Nothing to show" in (tmp_path / "out" / "index.html").read_text()
    assert result.summary["advice"] == [] and "at least 1,000 jobs" in result.summary["no_advice"]


def test_missing_lake_is_rejected(spark: SparkSession, tmp_path: Path) -> None:
    with pytest.raises(LakeError, match="there is no lake"):
        report(spark, tmp_path / "laek")


@pytest.mark.long
def test_report_of_one_job_has_its_exact_cost(spark: SparkSession, tmp_path: Path) -> None:
    lake = fill(tmp_path / "lake", jobs_frame(spark, JOB), attempts_frame(spark, ATTEMPT))

    result = report(spark, lake, out=tmp_path / "out")

    # A second at half a gigabyte, and a request.
    assert result.headline == "From 3 to 30 March 2026: 1 job, 100 % started within 60 s, 1 dead, $0.0000069."
    assert {row["what"]: row["p99"] for row in result.tables["durations"]} == {"wait": 5.0, "run": 1.0}
    assert [row["day"] for row in result.tables["days"] if not row["empty"]] == [date(2026, 3, 30)]
    assert (tmp_path / "out" / "index.html").exists()


def test_incomplete_newer_lake_is_reported(spark: SparkSession, tmp_path: Path) -> None:
    lake, jobs = tmp_path / "lake", HOMES["jobs_done"]
    later = replace(jobs, schema=T.StructType([*jobs.schema, T.StructField("later", T.StringType())]))
    rows = jobs_frame(
        spark, {**JOB, "tenant": None}, {**JOB, "queue": "mail", "deleted": at("03-28 01:00:00")}
    )
    append(rows.withColumn("later", F.lit("new")), Lake(str(lake)), later, app="minutehand", number=1)
    fill(lake, None, attempts_frame(spark, {**ATTEMPT, "job": "of nobody", "tenant": None, "queue": None}))

    result = report(spark, lake, since=date(2026, 3, 27), until=date(2026, 3, 31), out=tmp_path / "out")
    of_queue = report(spark, lake, queue="mail", since=date(2026, 3, 27), until=date(2026, 3, 31))

    totals, notes = result.summary["totals"], result.summary["notes"]
    assert (totals["jobs"], totals["counted"], totals["within"]) == (2, 0, None) and totals["cost"] > 0
    assert notes[0] == "31 March is incomplete: it was not over when the report was made."
    assert notes[1] == "No job ended on 3 days of the window: 27 March, 29 March, 31 March."
    assert notes[2].startswith("2 jobs without a first attempt in the lake")
    assert "No job was started" in (tmp_path / "out" / "index.html").read_text()
    assert of_queue.summary["totals"]["jobs"] == 1


@pytest.mark.long
def test_report_has_moved_jobs_and_shared_requests(spark: SparkSession, tmp_path: Path) -> None:
    moved = {"id": "moved", "run_at": at("03-30 12:00:00"), "deleted": at("03-30 12:00:20")}
    early = {**ATTEMPT, "job": "moved", "started": at("03-30 11:00:00"), "ended": at("03-30 11:00:01")}
    later = {**ATTEMPT, "job": "moved", "attempt": 2, "started": at("03-30 12:00:10"), "request": "one"}
    lake = fill(
        tmp_path / "lake",
        jobs_frame(spark, JOB, moved),
        attempts_frame(spark, {**ATTEMPT, "request": "one"}, early, {**later, "ended": at("03-30 12:00:20")}),
    )

    result = report(spark, lake)

    waits = next(row for row in result.tables["durations"] if row["what"] == "wait" and row["kind"] is None)
    assert (waits["count"], waits["most"]) == (2, 10.0)
    assert [row["requests"] for row in result.tables["costs"]] == [2.0]  # of three attempts
    assert spark.conf.get(PARTITIONS) == "2"


def test_only_an_earlier_report_is_replaced(spark: SparkSession, tmp_path: Path) -> None:
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "thesis.txt").write_text("years of work")
    shown = result_of_a_page()
    write_folder(tmp_path / "out", shown, [0.0] * 24 * 28)
    (tmp_path / "out" / "of-before").touch()

    with pytest.raises(InputError, match="is not a report"):
        report(spark, tmp_path / "lake", out=tmp_path / "mine")
    with pytest.raises(InputError, match="is not a report"):
        check_folder(tmp_path / "mine" / "thesis.txt")
    broken = replace(shown, tables={**shown.tables, "peaks": [{"jobs": "many"}]})
    with pytest.raises((ValueError, TypeError)):
        write_folder(tmp_path / "out", broken, [0.0] * 24 * 28)
    assert (tmp_path / "out" / "of-before").exists()
    write_folder(tmp_path / "out", shown, [0.0] * 24 * 28)

    there = sorted(each.name for each in (tmp_path / "out").iterdir())
    assert there == ["index.html", "report.json", "schema.json", "tables"]
    assert sorted(each.name for each in tmp_path.iterdir()) == ["mine", "out"]
    assert (tmp_path / "mine" / "thesis.txt").read_text() == "years of work"


def test_report_command_checks_before_spark_starts(spark: SparkSession, tmp_path: Path) -> None:
    lake = fill(tmp_path / "lake", jobs_frame(spark, JOB), attempts_frame(spark, ATTEMPT))
    command = [
        sys.executable,
        "-m",
        "minutehand_pipeline",
        "report",
        str(lake),
        "--out",
        str(tmp_path / "out"),
    ]

    def run(*options: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run([*command, *options], capture_output=True, text=True, timeout=300)

    dry = run("--dry-run", "-o", "json")
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "mine").touch()
    taken, wrong = run(), run("--target", "100")

    assert json.loads(dry.stdout) == {
        "since": "2026-03-30",
        "until": "2026-03-30",
        "days": 1,
        "jobs": 1,
        "attempts": 1,
    }
    assert (taken.returncode, taken.stderr.count("\n")) == (2, 1) and "is not a report" in taken.stderr
    assert wrong.returncode == 2 and "--target" in wrong.stderr
    assert [each.name for each in (tmp_path / "out").iterdir()] == ["mine"]


@pytest.mark.long
def test_report_command_prints_the_summary(spark: SparkSession, tmp_path: Path) -> None:
    lake = fill(tmp_path / "lake", jobs_frame(spark, JOB), attempts_frame(spark, ATTEMPT))

    done = subprocess.run(
        [
            sys.executable,
            "-m",
            "minutehand_pipeline",
            "report",
            str(lake),
            "--out",
            str(tmp_path / "out"),
            "-o",
            "json",
        ],
        capture_output=True,
        text=True,
        timeout=500,
    )

    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["totals"]["dead"] == 1
    assert "index.html" in done.stderr and (tmp_path / "out" / "index.html").exists()
