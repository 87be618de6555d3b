"""The whole job: from a lake to a folder, whatever the lake holds; and the verb that asks for it."""

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
from minutehand_pipeline.report.config import ReportConfig, read_prices
from minutehand_pipeline.report.run import run
from minutehand_pipeline.report.tables import TABLES
from minutehand_pipeline.report.window import Window, read_jobs, window_of
from minutehand_pipeline.report.write import check_folder, write_folder
from minutehand_pipeline.schemas import HOMES
from minutehand_pipeline.sources.lake import append
from tests.pipeline.report.conftest import at, attempts_frame, jobs_frame
from tests.pipeline.report.recorded import record
from tests.pipeline.report.test_page import result as result_of_a_page

JOB = {"id": "one", "run_at": at("03-30 12:00:00"), "deleted": at("03-30 12:00:06"), "state": "dead"}
ATTEMPT = {"job": "one", "started": at("03-30 12:00:05"), "ended": at("03-30 12:00:06"), "memory_mb": 512}


def fill(lake: Path, jobs: DataFrame | None, attempts: DataFrame | None) -> Path:
    for home, frame in (("jobs_done", jobs), ("attempts", attempts)):
        if frame is not None:
            append(frame, Lake(str(lake)), HOMES[home], app="minutehand", number=1)
    return lake


def report(spark: SparkSession, lake: Path, **said: Any) -> Any:
    return run(spark, ReportConfig(lake=str(lake), today=date(2026, 3, 31), **said))


@pytest.mark.long
def test_a_million_jobs_become_tables_that_hold_to_their_schema_and_one_page(
    spark: SparkSession, tmp_path: Path
) -> None:
    lake, out = tmp_path / "lake", tmp_path / "out"
    record(spark, Lake(str(lake)), 1_000_000, 28)
    rows = sum(file.rows for file in Lake(str(lake)).table(HOMES["jobs_done"]).files())

    result = report(spark, lake, out=out)

    schema = json.loads((out / "schema.json").read_text())
    assert sorted(schema["$defs"]) == sorted(TABLES) == sorted(result.tables)
    for name in TABLES:
        told = json.loads((out / "tables" / f"{name}.json").read_text())
        jsonschema.validate(
            told, {**schema["$defs"][name], "$defs": schema["$defs"]}, jsonschema.Draft202012Validator
        )
        read = pq.read_table(out / "tables" / f"{name}.parquet")
        assert read.num_rows == len(told) > 0
        assert read.schema.names == [each.name for each in TABLES[name].columns]
        assert all(field.metadata for field in read.schema)
    totals = result.summary["totals"]
    assert totals["jobs"] == rows == sum(row["jobs"] for row in result.tables["hours"])
    assert totals["jobs"] == totals["done"] + totals["dead"] + totals["cancelled"]
    assert totals["dead"] == sum(row["deaths"] for row in result.tables["failures"])
    assert totals["cost"] == pytest.approx(sum(row["cost"] for row in result.tables["costs"]))
    assert len(result.tables["failures"]) == 3  # as many causes as there are messages
    assert [row["within"] < 0.99 for row in result.tables["days"]].count(True) == 1  # the bad hour's day
    assert result.summary["advice"] and any(plan["chosen"] for plan in result.tables["capacity"])
    page = (out / "index.html").read_text()
    assert result.headline in page and "of the payload" not in page
    assert len(page) < 300_000


def test_an_empty_lake_has_a_page_that_says_so(spark: SparkSession, tmp_path: Path) -> None:
    (tmp_path / "lake").mkdir()

    result = report(spark, tmp_path / "lake", out=tmp_path / "out")

    assert result.headline == "No job ended from 4 to 31 March 2026."
    assert "Nothing to show" in (tmp_path / "out" / "index.html").read_text()
    assert result.summary["advice"] == [] and "too few" in result.summary["no_advice"]


def test_a_wrong_path_is_no_empty_lake(spark: SparkSession, tmp_path: Path) -> None:
    with pytest.raises(LakeError, match="there is no folder"):
        report(spark, tmp_path / "laek")


def test_one_job_is_reported_to_the_cent(spark: SparkSession, tmp_path: Path) -> None:
    lake = fill(tmp_path / "lake", jobs_frame(spark, JOB), attempts_frame(spark, ATTEMPT))

    result = report(spark, lake, out=tmp_path / "out")

    # A second at half a gigabyte, and a request.
    assert result.headline == "From 3 to 30 March 2026: 1 job, 100 % begun within 60 s, 1 dead, $0.0000069."
    assert {row["what"]: row["p99"] for row in result.tables["durations"]} == {"wait": 5.0, "run": 1.0}
    assert [row["day"] for row in result.tables["days"] if not row["empty"]] == [date(2026, 3, 30)]
    assert (tmp_path / "out" / "index.html").exists()


def test_a_later_lake_with_jobs_without_attempts_and_attempts_without_jobs_is_reported(
    spark: SparkSession, tmp_path: Path
) -> None:
    lake, jobs = tmp_path / "lake", HOMES["jobs_done"]
    later = replace(jobs, schema=T.StructType([*jobs.schema, T.StructField("later", T.StringType())]))
    rows = jobs_frame(
        spark, {**JOB, "tenant": None}, {**JOB, "queue": "mail", "deleted": at("03-28 01:00:00")}
    )
    append(rows.withColumn("later", F.lit("new")), Lake(str(lake)), later, app="minutehand", number=1)
    fill(lake, None, attempts_frame(spark, {**ATTEMPT, "job": "of nobody", "tenant": None, "queue": None}))

    result = report(spark, lake, since=date(2026, 3, 27), until=date(2026, 3, 31), out=tmp_path / "out")
    window = Window(date(2026, 3, 27), date(2026, 3, 31))
    of_queue = read_jobs(spark, ReportConfig(lake=str(lake), queue="mail"), window)

    totals, notes = result.summary["totals"], result.summary["notes"]
    assert (totals["jobs"], totals["counted"], totals["within"]) == (2, 0, None) and totals["cost"] > 0
    assert notes[0] == "31 March was not over when this was made."
    assert notes[1] == "Nothing ended on 3 days of the window: 27 March, 29 March, 31 March."
    assert notes[2].startswith("2 jobs have no first attempt here")
    assert "No job was begun" in (tmp_path / "out" / "index.html").read_text()
    assert of_queue.count() == 1


def test_a_folder_of_something_else_is_left_alone_and_a_report_is_replaced_whole(
    spark: SparkSession, tmp_path: Path
) -> None:
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "thesis.txt").write_text("years of work")
    shown = result_of_a_page()
    write_folder(tmp_path / "out", shown, [0.0] * 24 * 28)
    (tmp_path / "out" / "of-before").touch()

    with pytest.raises(InputError, match="is no report"):
        report(spark, tmp_path / "lake", out=tmp_path / "mine")
    with pytest.raises(InputError, match="is no report"):
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


@pytest.mark.parametrize(
    ("text", "why"),
    [("[]", "an object"), ('{"gold": 1}', "an object"), ('{"request": -1}', "not negative"),
     ('{"request": "1"}', "a number"), ("{", "Expecting"), ('{"dated": "soon"}', "Invalid"),
     ('{"gb_second": {"arm64": "much"}}', "could not convert")],
)  # fmt: skip
def test_prices_that_are_none_are_refused(text: str, why: str, tmp_path: Path) -> None:
    (tmp_path / "prices.json").write_text(text)

    with pytest.raises(InputError, match=why):
        read_prices(tmp_path / "prices.json")


def test_nonsense_is_refused_in_a_sentence() -> None:
    for said in ({"target": 1.0}, {"objective": 0.0}, {"since": date(2026, 3, 2), "until": date(2026, 3, 1)},
                 {"architecture": "mips"}, {"until": date(1, 1, 5)}, {"since": date(1, 1, 5)}):  # fmt: skip
        with pytest.raises(InputError):
            ReportConfig(lake="lake", **said)  # type: ignore[arg-type]


def test_a_window_longer_than_ten_years_is_refused_before_anything_is_read(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="at most"):
        window_of(ReportConfig(lake=str(tmp_path), since=date(1990, 1, 1), until=date(2026, 1, 1)))


@pytest.mark.parametrize(
    ("folder", "why"),
    [("afile/x", "afile is a file"), ("afile/x/y", "afile is a file"), ("/proc/nope", "/proc"),
     ("/proc/no/such", "/proc"), ("x" * 300, "cannot be written"), ("new/deep/er", None)],
)  # fmt: skip
def test_a_place_that_cannot_be_written_is_refused_at_once_and_nothing_stays(
    folder: str, why: str | None, tmp_path: Path
) -> None:
    (tmp_path / "afile").touch()

    if why is None:
        check_folder(tmp_path / folder)
    else:
        with pytest.raises(InputError, match=why):
            check_folder(tmp_path / folder)

    assert [each.name for each in tmp_path.iterdir()] == ["afile"]


def test_the_verb_says_what_it_would_read_without_spark_and_refuses_what_it_must(
    spark: SparkSession, tmp_path: Path
) -> None:
    lake = fill(tmp_path / "lake", jobs_frame(spark, JOB), attempts_frame(spark, ATTEMPT))
    verb = [sys.executable, "-m", "minutehand_pipeline", "report", str(lake), "--out", str(tmp_path / "out")]

    def ask(*said: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run([*verb, *said], capture_output=True, text=True, timeout=300)

    dry = ask("--dry-run", "-o", "json")
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "mine").touch()
    taken, wrong = ask(), ask("--target", "100")

    assert json.loads(dry.stdout) == {"since": "2026-03-03", "until": "2026-03-30", "jobs": 1, "attempts": 1}
    assert (taken.returncode, taken.stderr.count("\n")) == (1, 1) and "is no report" in taken.stderr
    assert wrong.returncode == 2 and "--target" in wrong.stderr
    assert [each.name for each in (tmp_path / "out").iterdir()] == ["mine"]


@pytest.mark.long
def test_the_verb_prints_the_answer(spark: SparkSession, tmp_path: Path) -> None:
    lake = fill(tmp_path / "lake", jobs_frame(spark, JOB), attempts_frame(spark, ATTEMPT))

    done = subprocess.run(
        [sys.executable, "-m", "minutehand_pipeline", "report", str(lake), "--out", str(tmp_path / "out"),
         "-o", "json"],
        capture_output=True, text=True, timeout=500,
    )  # fmt: skip

    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["totals"]["dead"] == 1
    assert "index.html" in done.stderr and (tmp_path / "out" / "index.html").exists()
