"""Measures of small frames with exact values."""

from datetime import date, timedelta

import pytest
from pyspark.sql import SparkSession

from minutehand_pipeline.prices import Prices
from minutehand_pipeline.report.measuring import PARTS
from minutehand_pipeline.report.window import Window
from tests.pipeline.report.conftest import at, attempts_frame, jobs_frame
from tests.pipeline.report.parts import part, parts, tables

pytestmark = pytest.mark.spark_floor

NOON = at("03-31 12:00:00")


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

    shown = tables(parts(("ended",), jobs, attempts_frame(spark)))
    found = {(row["hour"].hour, row["done"], row["dead"], row["cancelled"]) for row in shown["hours"]}

    assert found == {(0, 1, 0, 0), (1, 0, 1, 0), (2, 0, 0, 1), (23, 1, 0, 0)} | {(0, 1, 0, 0)}
    assert [(row["day"], row["jobs"]) for row in shown["throughput"]] == [
        (date(2026, 3, 29), 4),
        (date(2026, 3, 30), 1),
    ]


def test_cost_has_milliseconds_memory_and_requests(spark: SparkSession) -> None:
    prices = Prices(gb_second={"arm64": 1.0}, request=10.0)
    ended = at("03-31 12:00:01.0001")  # after 1000.1 ms, which is billed as 1001
    chunk = {"started": NOON, "ended": ended, "memory_mb": 512, "request": "r"}
    attempts = attempts_frame(
        spark,
        {"job": "a", "kind": "email", **chunk},
        {"job": "b", "kind": "thumb", **chunk},
        {"job": "c", "kind": "thumb", **chunk},
        {"job": "d", "kind": "thumb", **chunk, "outcome": "lapsed", "memory_mb": None},
        {"job": "e", "kind": "resident", "started": NOON, "ended": ended, "request": "r"},
        {"job": "f", "kind": "email", **chunk, "request": None},
    )

    rows = tables(parts(("work", "requests"), jobs_frame(spark), attempts), prices)["costs"]

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
        {
            "job": seconds,
            "kind": seconds,
            "started": NOON,
            "ended": at(f"03-31 12:00:{seconds}"),
            "memory_mb": 512,
        }
        for seconds in billed_ms
    )

    rows = tables(parts(("work",), jobs_frame(spark), attempts_frame(spark, *ran)))["costs"]

    assert {row["kind"]: row["billed_ms"] for row in rows} == billed_ms


def test_empty_and_incomplete_days_are_marked(spark: SparkSession) -> None:
    done = {"run_at": NOON, "claimed": at("03-31 12:00:05"), "deleted": at("03-31 12:00:06")}

    rows = tables(parts(("ended", "histograms"), jobs_frame(spark, done), attempts_frame(spark)))["days"]

    assert [(row["day"].day, row["jobs"], row["empty"], row["partial"]) for row in rows] == [
        (29, 0, True, False),
        (30, 0, True, False),
        (31, 1, False, True),
    ]
    assert rows[2]["wait_p99"] == 5.0 and rows[0]["wait_p99"] is None and rows[0]["within"] is None
    assert rows[2]["run_p50"] is None and rows[2]["cost"] == 0


def test_weeks_are_compared_only_if_both_are_complete() -> None:
    first = date(2026, 3, 7)  # a Saturday; then three whole weeks and a Monday
    days = [first + timedelta(days=n) for n in range(24)]
    counts: list[dict[str, object]] = [
        {"day": day, "queue": "", "kind": "", "jobs": 10 * (1 + n), "counted": 100, "late": 1 if n < 9 else 2}
        for n, day in enumerate(days)
    ]
    cost: list[dict[str, object]] = [
        {"day": day, "queue": "", "kind": "", "gb_seconds": 1.0, "on_lambda": 1} for day in days
    ]
    given = {"ended": counts, "work": cost}
    found = {name: part(name, given.get(name, [])) for name in PARTS}

    rows = tables(found, window=Window(days[0], days[-1]))["weeks"]

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

    jobs = jobs_frame(
        spark,
        due("12:00:00", "a"),
        due("12:00:59.999999", "b"),
        due("12:01:00", "b"),
        due("12:01:00", "a", begun=False),
    )
    ran = {"started": NOON, "ended": at("03-31 12:00:30")}
    attempts = attempts_frame(
        spark,
        *({"job": f"{n}", "kind": "b", **ran} for n in range(4)),
        {"job": "l", "kind": "b", **ran, "outcome": "lapsed"},
    )

    rows = tables(parts(("arrivals",), jobs, attempts))["peaks"]

    assert [(row["minute"].minute, row["jobs"], row["work"], row["busy"]) for row in rows] == [
        (0, 2, 60.0, 1.0),
        (1, 1, 60.0, 1.0),
    ]
