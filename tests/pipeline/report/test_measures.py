"""Measures of small frames whose values can be computed by hand."""

from datetime import UTC, date
from itertools import pairwise

import numpy as np
import pytest
from pyspark.sql import SparkSession
from pyspark.sql import functions as F

from minutehand_pipeline.prices import Prices
from minutehand_pipeline.report.arrivals import arrivals_by_minute, work_by_kind
from minutehand_pipeline.report.cost import billed, costs
from minutehand_pipeline.report.days import days
from minutehand_pipeline.report.durations import ACCURACY, durations
from minutehand_pipeline.report.lateness import lateness
from minutehand_pipeline.report.measured import measured_attempts, measured_jobs, starts
from minutehand_pipeline.report.report import calendar
from minutehand_pipeline.report.tables import TABLES
from minutehand_pipeline.report.tenants import attribute_waiting, tenants
from minutehand_pipeline.report.throughput import by_day, by_hour, retries
from minutehand_pipeline.report.weeks import weeks
from minutehand_pipeline.report.window import Window
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

    waits = measured_jobs(jobs, starts(attempts)).select("id", "waited")
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

    rows = measured_jobs(jobs, starts(attempts)).collect()

    assert {row["id"]: row["waited"] for row in rows} == {name: wait for name, (_, wait) in STARTS.items()}
    assert all((row["began"] is None) == (row["waited"] is None) for row in rows)


def test_ended_jobs_are_counted_by_utc_hour_and_day(spark: SparkSession) -> None:
    # On 29 March 2026 the clocks of Europe went on at 01:00 UTC, on 8 March those of America at 07:00.
    moments = [
        at("03-29 00:59:59.999999"),
        at("03-29 01:00:00"),
        at("03-29 02:30:00"),
        at("03-29 23:59:59"),
        at("03-30 00:00:00"),
    ]
    states = ("done", "dead", "cancelled", "done", "done")
    jobs = jobs_frame(spark, *({"deleted": m, "state": s} for m, s in zip(moments, states, strict=True)))

    hours = by_hour(jobs)
    found = {
        (row["hour"].hour, row["done"], row["dead"], row["cancelled"])
        for row in TABLES["hours"].select(hours).toArrow().to_pylist()
    }

    assert found == {(0, 1, 0, 0), (1, 0, 1, 0), (2, 0, 0, 1), (23, 1, 0, 0)} | {(0, 1, 0, 0)}
    assert [(row["day"], row["jobs"]) for row in by_day(hours).collect()] == [
        (date(2026, 3, 29), 4),
        (date(2026, 3, 30), 1),
    ]


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


def test_cost_has_milliseconds_memory_and_requests(spark: SparkSession) -> None:
    prices = Prices(gb_second={"arm64": 1.0}, request=10.0)
    ended = at("03-31 12:00:01.0001")  # after 1000.1 ms, which is billed as 1001
    chunk = {"started": NOON, "ended": ended, "memory_mb": 512, "request": "r"}
    attempts = measured_attempts(
        attempts_frame(
            spark,
            {"job": "a", "kind": "email", **chunk},
            {"job": "b", "kind": "thumb", **chunk},
            {"job": "c", "kind": "thumb", **chunk},
            {"job": "d", "kind": "thumb", **chunk, "outcome": "lapsed", "memory_mb": None},
            {"job": "e", "kind": "resident", "started": NOON, "ended": ended, "request": "r"},
            {"job": "f", "kind": "email", **chunk, "request": None},
        )
    )

    rows = TABLES["costs"].select(costs(billed(attempts, prices, "arm64"))).toArrow().to_pylist()

    assert [(row["kind"], row["jobs"], row["billed_ms"]) for row in rows] == [
        ("email", 2, 2002),
        ("thumb", 2, 2002),
    ]
    assert rows[0]["requests"] == pytest.approx(4 / 3) and rows[1]["requests"] == pytest.approx(2 / 3)
    assert rows[0]["cost"] == pytest.approx(1.001 + 40 / 3) and rows[1]["cost"] == pytest.approx(
        1.001 + 20 / 3
    )
    assert sum(row["share"] for row in rows) == pytest.approx(1)


def test_run_time_is_rounded_up_to_whole_milliseconds(spark: SparkSession) -> None:
    billed_ms = {"02.007": 2007, "02.007001": 2008, "00.000001": 1, "00": 0, "04.35": 4350, "59.001": 59_001}
    ran = (
        {"job": seconds, "started": NOON, "ended": at(f"03-31 12:00:{seconds}"), "memory_mb": 512}
        for seconds in billed_ms
    )

    rows = billed(measured_attempts(attempts_frame(spark, *ran)), Prices(), "arm64").collect()

    assert {row["job"]: row["billed_ms"] for row in rows} == billed_ms


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
        starts(attempts),
    )

    blamed = {row["tenant"]: row["others_waited"] for row in attribute_waiting(jobs, attempts).collect()}
    table = TABLES["tenants"].select(tenants(jobs, attempts)).toArrow().to_pylist()

    # Of the job without a tenant, which waited a day, only the last hour is laid to anybody.
    assert blamed["noisy"] == pytest.approx(60 + (40 + 60) * 60 / 80)
    assert blamed["calm"] == pytest.approx((10 + 60) * 20 / 80)
    assert blamed["later"] == pytest.approx(60)
    assert [row["tenant"] for row in table] == ["noisy", "later", "calm", ""]
    assert sum(row["ran_share"] for row in table) == pytest.approx(1)


def test_empty_and_incomplete_days_are_marked(spark: SparkSession) -> None:
    window = Window(date(2026, 3, 29), date(2026, 3, 31))
    done = {"run_at": NOON, "claimed": at("03-31 12:00:05"), "deleted": at("03-31 12:00:06")}
    jobs = measured_jobs(jobs_frame(spark, done), starts(attempts_frame(spark)))
    bills = billed(measured_attempts(attempts_frame(spark)), Prices(), "arm64")

    frame = days(calendar(spark, window), jobs, bills, 60, 0.99, date(2026, 3, 31))
    rows = TABLES["days"].select(frame).toArrow().to_pylist()

    assert [(row["day"].day, row["jobs"], row["empty"], row["partial"]) for row in rows] == [
        (29, 0, True, False),
        (30, 0, True, False),
        (31, 1, False, True),
    ]
    assert rows[2]["wait_p99"] == 5.0 and rows[0]["wait_p99"] is None and rows[0]["within"] is None
    assert rows[2]["run_p50"] is None and rows[2]["cost"] == 0


def test_weeks_are_compared_only_if_both_are_complete(spark: SparkSession) -> None:
    names = TABLES["days"].spark_schema().names
    first = date(2026, 3, 7)  # a Saturday; then three whole weeks and a Monday

    def day(n: int) -> tuple[object, ...]:
        values = {
            "day": date.fromordinal(first.toordinal() + n),
            "jobs": 10 * (1 + n),
            "done": 0,
            "dead": 0,
            "cancelled": 0,
            "counted": 100,
            "late": 1 if n < 9 else 2,
            "cost": 1.0,
            "partial": False,
        }
        return tuple(values.get(name) for name in names)

    by_days = spark.createDataFrame([day(n) for n in range(24)], TABLES["days"].spark_schema())
    done = measured_jobs(jobs_frame(spark), starts(attempts_frame(spark)))

    frame = weeks(done, measured_attempts(attempts_frame(spark)), by_days)
    rows = TABLES["weeks"].select(frame).toArrow().to_pylist()

    assert [(row["week"].day, row["days"], row["whole"]) for row in rows] == [
        (2, 2, False),
        (9, 7, True),
        (16, 7, True),
        (23, 7, True),
        (30, 1, False),
    ]
    assert [row["jobs_change"] for row in rows] == [None, None, 490, 490, None]
    assert rows[2]["within_change"] == pytest.approx(-0.01) and rows[3]["within_change"] == pytest.approx(0)


def test_arrivals_have_the_mean_work_of_their_kind(spark: SparkSession) -> None:
    def due(second: str, kind: str, begun: bool = True) -> dict[str, object]:
        moment = at(f"03-31 {second}")
        return {"run_at": moment, "kind": kind, "deleted": moment, "claimed": moment if begun else None}

    jobs = measured_jobs(
        jobs_frame(
            spark,
            due("12:00:00", "a"),
            due("12:00:59.999999", "b"),
            due("12:01:00", "b"),
            due("12:01:00", "a", begun=False),
        ),
        starts(attempts_frame(spark)),
    )
    ran = {"started": NOON, "ended": at("03-31 12:00:30")}
    attempts = measured_attempts(
        attempts_frame(
            spark,
            *({"job": f"{n}", "kind": "b", **ran} for n in range(4)),
            {"job": "l", "kind": "b", **ran, "outcome": "lapsed"},
        )
    )

    rows = arrivals_by_minute(jobs, work_by_kind(jobs, attempts)).collect()

    assert [
        (row["minute"].astimezone(UTC).minute, row["jobs"], row["work"], row["busy"]) for row in rows
    ] == [
        (0, 2, 60.0, 1.0),
        (1, 1, 60.0, 1.0),
    ]
    assert all(before["minute"] < after["minute"] for before, after in pairwise(rows))
