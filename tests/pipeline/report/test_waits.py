"""Waits, run times and lateness of small frames with exact values."""

from datetime import timedelta

import pytest
from pyspark.sql import SparkSession
from pyspark.sql import functions as F

from minutehand_pipeline.report.measured import measured_attempts, measured_jobs
from tests.pipeline.report.conftest import at, attempts_frame, jobs_frame
from tests.pipeline.report.parts import parts, tables

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

    waits = measured_jobs(jobs, measured_attempts(attempts)).select("id", "waited")
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

    rows = measured_jobs(jobs, measured_attempts(attempts)).collect()

    assert {row["id"]: row["waited"] for row in rows} == {name: wait for name, (_, wait) in STARTS.items()}
    assert all((row["began"] is None) == (row["waited"] is None) for row in rows)


def test_first_start_is_found_on_an_earlier_day(spark: SparkSession) -> None:
    due, end = at("03-30 23:59:00"), at("03-31 00:10:00")
    jobs = jobs_frame(
        spark,
        {"id": "retried", "run_at": due, "deleted": end, "attempts": 2},
        {"id": "snoozed", "run_at": due, "deleted": end, "claimed": at("03-31 00:09:00")},
        {"id": "long ago", "run_at": at("03-20 12:00:00"), "deleted": end, "attempts": 2},
    )
    today = {"attempt": 2, "started": at("03-31 00:09:00"), "ended": end}
    attempts = attempts_frame(spark, *({**today, "job": name} for name in ("retried", "snoozed", "long ago")))
    first = {"started": at("03-30 23:59:10"), "ended": at("03-30 23:59:20"), "outcome": "snoozed"}
    earlier = attempts_frame(
        spark,
        *({**first, "job": name} for name in ("retried", "snoozed")),
        {**first, "job": "long ago", "started": at("03-20 12:00:10"), "ended": at("03-20 12:00:20")},
    )

    rows = measured_jobs(jobs, measured_attempts(attempts), measured_attempts(earlier)).collect()

    assert {row["id"]: row["waited"] for row in rows} == {"retried": 10.0, "snoozed": 10.0, "long ago": None}


def test_lateness_uses_objective_and_budget(spark: SparkSession) -> None:
    def waited(queue: str, kind: str, seconds: float | None) -> dict[str, object]:
        claimed = None if seconds is None else NOON + timedelta(seconds=seconds)
        return {
            "queue": queue,
            "kind": kind,
            "run_at": NOON,
            "claimed": claimed,
            "deleted": at("03-31 13:00:00"),
        }

    jobs = jobs_frame(
        spark,
        *(waited("mail", "a", seconds) for seconds in (1.0, 60.0, 60.000001, 500.0)),
        *(waited("slow", "b", seconds) for seconds in (2.0, None)),
    )

    found = tables(parts(("ended",), jobs, attempts_frame(spark)), target=0.9)["lateness"]

    rows = {(row["queue"], row["kind"]): row for row in found}
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

    tried = {"a": 3, "b": 1, "c": 1, "never started": 0}
    jobs = jobs_frame(spark, *({"id": name, "deleted": NOON, "attempts": n} for name, n in tried.items()))

    (row,) = tables(parts(("ended", "work"), jobs, attempts))["retries"]

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

    attempts = attempts_frame(
        spark,
        ran("noisy", "11:59:30", "12:01:00"),  # 30 s of the first minute, all of the second
        ran("calm", "12:00:00", "12:00:20"),
        ran("later", "12:05:00", "12:06:00"),
        # Attempts that ended on another day do not count.
        {**ran("noisy", "12:00:00", "12:00:20"), "ended": at("04-01 00:00:01")},
    )
    waiting = {
        "run_at": at("03-31 12:00:00"),
        "claimed": at("03-31 12:00:40"),
        "deleted": at("03-31 12:06:00"),
    }
    jobs = jobs_frame(
        spark,
        {**waiting, "tenant": "calm"},
        {**waiting, "tenant": "noisy", "claimed": at("03-31 12:00:10")},
        {**waiting, "tenant": None, "run_at": at("03-30 12:00:00"), "claimed": at("03-31 12:06:00")},
    )

    table = tables(parts(("tenants",), jobs, attempts))["tenants"]

    blamed = {row["tenant"]: row["others_waited"] for row in table}
    # Of the job without a tenant, which waited a day, only the last hour is laid to anybody.
    assert blamed["noisy"] == pytest.approx(60 + (40 + 60) * 60 / 80)
    assert blamed["calm"] == pytest.approx((10 + 60) * 20 / 80)
    assert blamed["later"] == pytest.approx(60)
    assert [row["tenant"] for row in table] == ["noisy", "later", "calm", ""]
    assert sum(row["ran_share"] for row in table) == pytest.approx(1)
