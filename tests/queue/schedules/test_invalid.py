"""Invalid schedules are rejected, and one that cannot fire blocks no other."""

from datetime import datetime
from typing import Any

import pytest
from psycopg.errors import CheckViolation

from minutehand import InvalidJobError, NewJob, schedules
from minutehand.schedules.fire import Fired, fire_due
from tests.queue.schedules.stage import DAY, HOUR, MINUTE, NOON, firings, jobs, save
from tests.queue.stage import Queue


@pytest.mark.parametrize(
    ("options", "rule"),
    [
        ({"every": "whenever"}, "every_recurs"),
        ({"every": "@reboot"}, "every_recurs"),
        ({"zone": "Mars/Olympus"}, "zone_is_known"),
        ({"name": ""}, "schedule_is_named"),
        ({"name": "n" * 201}, "schedule_is_named"),
        ({"name": "a\0b"}, "schedule_is_named"),
        ({"starts": datetime(2030, 1, 1)}, "time_is_finite"),
        ({"starts": NOON, "ends": NOON}, "schedule_ends_later"),
        ({"jitter": 2 * DAY}, "jitter_is_up_to_a_day"),
        ({"jitter": 5}, "number_is_in_range"),
        ({"ahead": -MINUTE}, "ahead_is_up_to_a_month"),
        ({"ahead": 32 * DAY}, "ahead_is_up_to_a_month"),
        ({"ahead": 3_000_000 * DAY}, "ahead_is_up_to_a_month"),
        ({"ahead": MINUTE, "overlap": "skip"}, "ahead_allows_overlap"),
        ({"catch_up": "some"}, "catch_up_is_known"),
        ({"overlap": "queue"}, "overlap_is_known"),
        ({"max_catch_up": 0}, "max_catch_up_is_1_to_1000"),
        ({"max_catch_up": True}, "max_catch_up_is_1_to_1000"),
        ({"job": "report"}, "schedule_has_a_job"),
        ({"job": NewJob("report", delay=MINUTE)}, "schedule_has_a_job"),
        ({"job": NewJob("report", {"a": "\0"})}, "text_is_text"),
        ({"job": NewJob("no kind")}, "kind_is_a_name"),
        ({"job": NewJob("report", priority=11)}, "priority_is_0_to_9"),
        ({"job": NewJob("report", "x" * 300_000)}, "payload_fits"),
        ({"job": NewJob("report", {1: 2})}, "payload_is_json"),
    ],
    ids=str,
)
def test_invalid_schedule_is_rejected(direct_queue: Queue, options: dict[str, Any], rule: str) -> None:
    with pytest.raises(InvalidJobError) as refused:
        save(direct_queue, **options)

    assert refused.value.rule == rule
    assert schedules.list_schedules(direct_queue.database) == []
    assert jobs(direct_queue) == []


def test_rejected_job_of_a_schedule_blocks_no_other_schedule(queue: Queue) -> None:
    for name in ("good", "large", "also good"):
        save(queue, name=name, job=NewJob("report", "x" * 5000 if name == "large" else None))
    queue.sql("update minutehand.settings set max_payload = 1000")

    fired = fire_due(queue.database, NOON + HOUR)

    assert fired.fired == 2
    assert [name for name, _ in fired.refused] == ["large"]
    assert firings(queue, "large") == [(NOON + HOUR, "refused", 1)]
    assert schedules.get(queue.database, "large").next == NOON + 2 * HOUR


def test_unreadable_schedule_is_retried_and_blocks_no_other(queue: Queue) -> None:
    for name in ("good", "strange"):
        save(queue, name=name)
    queue.sql("update minutehand.schedules set every = 'full moon' where name = 'strange'")

    fired = fire_due(queue.database, NOON + HOUR)
    assert (fired.fired, [name for name, _ in fired.refused]) == (1, ["strange"])
    assert fire_due(queue.database, NOON + HOUR) == Fired()

    queue.sql("update minutehand.schedules set every = '0 * * * *' where name = 'strange'")
    assert fire_due(queue.database, NOON + 2 * HOUR).fired == 2


@pytest.mark.parametrize("column", ["starts", "next", "wake"])
def test_infinite_time_is_rejected_in_every_schedule_column(queue: Queue, column: str) -> None:
    save(queue)

    with pytest.raises(CheckViolation):
        queue.sql(f"update minutehand.schedules set {column} = '-infinity'")  # type: ignore[arg-type]
