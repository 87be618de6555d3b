"""Waits, run times and lateness of small frames with exact values."""

import numpy as np
import pytest
from pyspark.sql import SparkSession
from pyspark.sql import functions as F

from minutehand_pipeline.report.durations import ACCURACY, durations
from minutehand_pipeline.report.lateness import lateness
from minutehand_pipeline.report.measured import measured_attempts, measured_jobs
from minutehand_pipeline.report.tables import TABLES
from minutehand_pipeline.report.tenants import tenants
from minutehand_pipeline.report.throughput import retries
from tests.pipeline.report.conftest import at, attempts_frame, jobs_frame

pytestmark = pytest.mark.spark_floor


NOON = at("03-31 12:00:00")


def test_wait_ends_with_the_first_started_attempt(spark: SparkSession) -> None:
    due = {"run_at": NOON, "deleted": at("03-31 13:00:00")}
    jobs = jobs_frame(
        spark,
        {**due, "id": "retried", "attempts": 2, "claimed": at("03-31 12:30:00")},
        {**due, "id": "snoozed"},
        {**due, "id": "released"},
        {**due, "id": "lapsed", "attempts": 2},
        {**due, "id": "cancelled", "state": "cancelled", "attempts": 0},
        {**due, "id": "alone", "claimed": at("03-31 12:00:07")},
        {**due, "id": "long ago", "attempts": 3, "claimed": at("03-31 12:30:00")},
        {**due, "id": "early", "claimed": at("03-31 11:59:59")},
        {"id": "undated", "deleted": at("03-31 13:00:00"), "tenant": None, "queue": None, "kind": None},
    )
    attempts = attempts_frame(
        spark,
        {
            "job": "retried",
            "started": at("03-31 12:00:05"),
            "ended": at("03-31 12:00:06"),
            "outcome": "retrying",
        },
        {"job": "retried", "attempt": 2, "started": at("03-31 12:30:00"), "ended": at("03-31 12:31:00")},
        {
            "job": "snoozed",
            "started": at("03-31 12:00:04"),
            "ended": at("03-31 12:00:05"),
            "outcome": "snoozed",
        },
        {"job": "snoozed", "started": at("03-31 12:50:00"), "ended": at("03-31 12:51:00")},
        {
            "job": "released",
            "started": at("03-31 12:00:01"),
            "ended": at("03-31 12:00:02"),
            "outcome": "released",
        },
        {"job": "released", "started": at("03-31 12:00:09"), "ended": at("03-31 12:00:10")},
        {
            "job": "lapsed",
            "started": at("03-31 12:00:08"),
            "ended": at("03-31 12:20:00"),
            "outcome": "lapsed",
        },
        {"job": "long ago", "attempt": 3, "started": at("03-31 12:30:00"), "ended": at("03-31 12:31:00")},
        {"job": "of no job here", "started": NOON, "ended": NOON},
    )

    waits = measured_jobs(jobs, attempts).select("id", "waited")
    ran = measured_attempts(attempts).groupBy("outcome").agg(F.max("ran").alias("ran"))

    expected = {
        "retried": 5.0,
        "snoozed": 4.0,
        "released": 9.0,
        "lapsed": 8.0,
        "cancelled": None,
        "alone": 7.0,
        "long ago": None,
        "early": 0.0,
        "undated": None,
    }
    assert dict(map(tuple, waits.collect())) == expected
    lasted = {"retrying": 1.0, "snoozed": 1.0, "done": 60.0, "released": None, "lapsed": None}
    assert dict(map(tuple, ran.collect())) == lasted


STARTS: dict[str, tuple[list[tuple[str, int]], float | None]] = {
    "replaced after an attempt, or snoozed and then moved": ([("09:00", 1), ("13:00", 1)], 3600.0),
    "snoozed": ([("13:00", 1), ("14:00", 1)], 3600.0),
    "retried, and moved before the retry": ([("09:00", 1), ("13:00", 2), ("14:00", 3)], 3600.0),
    "first attempt not in the lake": ([("13:00", 2)], None),
    "replaced or moved, and never started since": ([("09:00", 1)], None),
    "clock a millisecond behind": ([("11:59:59.999", 1), ("13:00", 2)], 0.0),
}


def test_attempts_before_run_at_do_not_end_the_wait(spark: SparkSession) -> None:
    end = at("03-31 15:00:00")
    jobs = jobs_frame(
        spark, *({"id": name, "run_at": NOON, "deleted": end, "attempts": 3} for name in STARTS)
    )
    attempts = attempts_frame(
        spark,
        *(
            {"job": name, "attempt": number, "started": at(f"03-31 {start}"), "ended": end}
            for name, (starts_at, _) in STARTS.items()
            for start, number in starts_at
        ),
    )

    rows = measured_jobs(jobs, attempts).collect()

    assert {row["id"]: row["waited"] for row in rows} == {name: wait for name, (_, wait) in STARTS.items()}
    assert all((row["began"] is None) == (row["waited"] is None) for row in rows)


def test_percentile_ranks_are_accurate(spark: SparkSession) -> None:
    waits = np.random.default_rng(5).lognormal(1, 2, 60_000)
    jobs = spark.createDataFrame(
        [("default", "email", float(wait)) for wait in waits], "queue string, kind string, waited double"
    )
    attempts = jobs.withColumnRenamed("waited", "ran").withColumn("ran", F.col("ran") / 10)

    rows = durations(jobs, attempts).collect()
    exact = jobs.agg(F.percentile("waited", F.array(*map(F.lit, (0.5, 0.9, 0.95, 0.99))))).first()

    assert exact is not None
    assert len(rows) == 6 and {row["count"] for row in rows} == {60_000}
    for row in rows:
        values = np.sort(waits if row["what"] == "wait" else waits / 10)
        assert row["most"] == pytest.approx(values[-1])
        for name, share in (("p50", 0.5), ("p90", 0.9), ("p95", 0.95), ("p99", 0.99)):
            rank = np.searchsorted(values, row[name]) / len(values)
            assert abs(rank - share) <= 1 / ACCURACY + 1 / len(values), (row["what"], name)
    assert exact[0][2] == pytest.approx(np.percentile(waits, 95))


def test_lateness_uses_objective_and_budget(spark: SparkSession) -> None:
    jobs = spark.createDataFrame(
        [("mail", "a", wait) for wait in (1.0, 60.0, 60.000001, 500.0)]
        + [("slow", "b", 2.0), ("slow", "b", None)],
        "queue string, kind string, waited double",
    )

    rows = {(row["queue"], row["kind"]): row for row in lateness(jobs, 60, 0.9).collect()}

    assert len(rows) == 5
    assert (rows[None, None]["counted"], rows[None, None]["late"]) == (5, 2)
    assert rows[None, None]["within"] == pytest.approx(0.6)
    assert rows["mail", None]["burn"] == pytest.approx(5)  # half of them, where a tenth may
    assert rows["mail", None]["budget"] == pytest.approx(0.4)
    assert rows["slow", "b"]["burn"] == 0


def test_snooze_does_not_count_as_retry(spark: SparkSession) -> None:
    attempts = attempts_frame(
        spark,
        {"job": "a", "ended": NOON, "outcome": "retrying"},
        {"job": "a", "ended": NOON, "attempt": 2, "outcome": "lapsed"},
        {"job": "a", "ended": NOON, "attempt": 3, "outcome": "dead"},
        {"job": "b", "ended": NOON, "outcome": "snoozed"},
        {"job": "b", "ended": NOON},
        {"job": "c", "ended": NOON, "outcome": "released"},
        {"job": "c", "ended": NOON},
    )

    (row,) = TABLES["retries"].select(retries(attempts)).toArrow().to_pylist()

    assert row == {
        "queue": "default",
        "kind": "email",
        "jobs": 3,
        "attempts": 5,
        "retries": 2,
        "retried": 1,
        "share": 1 / 3,
        "most": 3,
        "lapsed": 1,
        "snoozes": 1,
        "released": 1,
    }


def test_waiting_is_attributed_by_share_of_run_time(spark: SparkSession) -> None:
    def ran(tenant: str, since: str, until: str) -> dict[str, object]:
        return {
            "job": tenant,
            "tenant": tenant,
            "started": at(f"03-31 {since}"),
            "ended": at(f"03-31 {until}"),
        }

    attempts = measured_attempts(
        attempts_frame(
            spark,
            ran("noisy", "11:59:30", "12:01:00"),  # 30 s of the first minute, all of the second
            ran("calm", "12:00:00", "12:00:20"),
            ran("later", "12:05:00", "12:06:00"),
        )
    )
    waiting = {
        "run_at": at("03-31 12:00:00"),
        "claimed": at("03-31 12:00:40"),
        "deleted": at("03-31 12:06:00"),
    }
    jobs = measured_jobs(
        jobs_frame(
            spark,
            {**waiting, "tenant": "calm"},
            {**waiting, "tenant": "noisy", "claimed": at("03-31 12:00:10")},
            {**waiting, "tenant": None, "run_at": at("03-30 12:00:00"), "claimed": at("03-31 12:06:00")},
        ),
        attempts,
    )

    table = TABLES["tenants"].select(tenants(jobs, attempts)).toArrow().to_pylist()

    blamed = {row["tenant"]: row["others_waited"] for row in table}
    # Of the job without a tenant, which waited a day, only the last hour is laid to anybody.
    assert blamed["noisy"] == pytest.approx(60 + (40 + 60) * 60 / 80)
    assert blamed["calm"] == pytest.approx((10 + 60) * 20 / 80)
    assert blamed["later"] == pytest.approx(60)
    assert [row["tenant"] for row in table] == ["noisy", "later", "calm", ""]
    assert sum(row["ran_share"] for row in table) == pytest.approx(1)
