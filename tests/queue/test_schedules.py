"""Schedules: each moment fires once, whoever looks and however often, and an outage does not flood the queue."""

import json
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID
from zoneinfo import ZoneInfo

import pytest
from psycopg.errors import CheckViolation

from minutehand import Database, InvalidJobError, NewJob, NotFoundError, Retry, schedules
from minutehand.finish import finish
from minutehand.model.outcome import Done
from minutehand.schedules import Schedule
from minutehand.schedules.fire import LEDGER_DAYS, Fired, enqueue_now, fire_due, prune
from minutehand.schedules.plan import GRACE, REACH
from tests.queue.stage import Queue

BERLIN = ZoneInfo("Europe/Berlin")
NOON = datetime(2030, 6, 3, 12, tzinfo=UTC)  # a Monday
MINUTE, HOUR, DAY = timedelta(minutes=1), timedelta(hours=1), timedelta(days=1)


def put(queue: Queue, every: str = "0 * * * *", *, now: datetime = NOON, **said: Any) -> str:
    own: dict[str, Any] = {"name": "hourly", "every": every, "job": NewJob("report", {"n": 1})}
    schedule = Schedule(**own | said)
    return schedules.save(queue.database, schedule, now=now).schedule.name


def jobs(queue: Queue) -> list[dict[str, Any]]:
    return queue.sql("select * from minutehand.jobs order by nominal, id")


def nominals(queue: Queue) -> list[datetime]:
    return [job["nominal"] for job in jobs(queue)]


def ledger(queue: Queue, name: str = "hourly") -> list[tuple[datetime, str, int]]:
    return [
        (each.nominal, each.outcome, each.count)
        for each in reversed(schedules.list_firings(queue.database, name, limit=1000))
    ]


def test_firing_enqueues_a_job_with_all_options_of_the_schedule(queue: Queue) -> None:
    retry = Retry(strategy="fixed", min=timedelta(seconds=3))
    payload = {"big": 12345678901234567890, "small": 1.5, "text": "ä"}
    job = NewJob(
        "report", payload, "slow", "a key", priority=9, max_attempts=2, retry=retry,
        timeout=timedelta(seconds=90.5), headers={"a": "b"},
    )  # fmt: skip
    put(queue, job=job)
    assert schedules.get(queue.database, "hourly").schedule.job == job

    assert fire_due(queue.database, NOON + HOUR) == Fired(fired=1)

    (row,) = jobs(queue)
    assert (row["nominal"], row["schedule"]) == (NOON + HOUR, "hourly")
    assert abs(row["run_at"] - (NOON + HOUR)) < timedelta(seconds=1)
    told = {
        name: row[name]
        for name in ("kind", "payload", "queue", "key", "priority", "max_attempts", "timeout", "headers")
    }
    assert told == {name: getattr(job, name) for name in told}
    assert Retry.from_json(row["retry"]) == retry
    stored = schedules.get(queue.database, "hourly")
    assert (stored.next, stored.fired, stored.last) == (NOON + 2 * HOUR, NOON + HOUR, row["id"])
    assert ledger(queue) == [(NOON + HOUR, "fired", 1)]


def test_schedule_fires_once_and_not_before_its_time(queue: Queue) -> None:
    put(queue)

    assert fire_due(queue.database, NOON + HOUR - timedelta(microseconds=1)) == Fired()
    assert fire_due(queue.database, NOON + HOUR) == Fired(fired=1)
    assert fire_due(queue.database, NOON + HOUR) == Fired()
    assert fire_due(queue.database, NOON + HOUR + MINUTE) == Fired()
    assert nominals(queue) == [NOON + HOUR]


def test_clock_set_back_does_not_repeat_a_firing(queue: Queue) -> None:
    put(queue)
    fire_due(queue.database, NOON + HOUR)

    assert fire_due(queue.database, NOON - DAY) == Fired()
    assert fire_due(queue.database, NOON + HOUR) == Fired()
    assert nominals(queue) == [NOON + HOUR]


def test_schedule_restored_from_a_backup_does_not_repeat_firings(queue: Queue) -> None:
    put(queue)
    backup = queue.sql("select next, wake from minutehand.schedules")[0]
    for hour in (1, 2, 3):
        fire_due(queue.database, NOON + hour * HOUR)
    queue.sql("update minutehand.schedules set next = %(next)s, wake = %(wake)s", **backup)
    queue.sql("update minutehand.schedules set catch_up = 'all'")

    fired = fire_due(queue.database, NOON + 4 * HOUR)

    assert fired == Fired(fired=1)
    assert nominals(queue) == [NOON + hour * HOUR for hour in (1, 2, 3, 4)]


def test_recreated_schedule_does_not_repeat_a_firing(queue: Queue) -> None:
    put(queue)
    fire_due(queue.database, NOON + HOUR)
    schedules.remove(queue.database, "hourly", now=NOON + HOUR)
    put(queue, now=NOON)

    assert fire_due(queue.database, NOON + HOUR) == Fired()
    assert len(jobs(queue)) == 1


def test_concurrent_dispatchers_fire_each_occurrence_once(queue: Queue) -> None:
    for n in range(30):
        put(queue, "* * * * *", name=f"schedule {n}")

    def tick(session: Database) -> int:
        return sum(fire_due(session, NOON + minute * MINUTE).fired for minute in (1, 2, 3))

    ticks = [queue.let(tick, queue.another()) for _ in range(8)]
    total = sum(each.result() for each in ticks)

    fire_due(queue.database, NOON + 3 * MINUTE)
    rows = queue.sql("select schedule, nominal, count(*) from minutehand.jobs group by 1, 2")
    assert len(rows) == 90
    assert {row["count"] for row in rows} == {1}
    assert total <= 90


def test_concurrent_transactions_record_an_occurrence_once(queue: Queue) -> None:
    """The ledger's key holds even where the lock of the schedule would not."""
    put(queue)
    own, other = queue.another(), queue.another()
    line = {
        "tenant": "",
        "schedule": "hourly",
        "nominal": NOON.isoformat(),
        "outcome": "fired",
        "count": 1,
        "job": {},
    }

    with own.transaction():
        assert len(own.run("fire", firings=json.dumps([line]))) == 1
        second = queue.let(other.run, "fire", firings=json.dumps([line]))
        queue.until_done_or_waiting(second)
        assert not second.done()
    assert second.result() == []
    assert len(jobs(queue)) == 1


def test_rolled_back_tick_leaves_no_job_and_no_firing(queue: Queue) -> None:
    put(queue)
    dying = queue.another()
    with pytest.raises(RuntimeError), dying.transaction():  # noqa: PT012
        assert fire_due(dying, NOON + HOUR).fired == 1
        raise RuntimeError
    assert (jobs(queue), ledger(queue)) == ([], [])

    assert fire_due(queue.database, NOON + HOUR) == Fired(fired=1)


# What an outage of ten hours leaves: of ten full hours, nine were missed, and one is now.
@pytest.mark.parametrize(
    ("catch_up", "hours", "missed"),
    [({"catch_up": "none"}, [10], 9), ({"catch_up": "last"}, [10], 9), ({"catch_up": "all"}, range(1, 11), 0),
     ({"catch_up": "all", "most": 3}, [7, 8, 9, 10], 6)],
    ids=str,
)  # fmt: skip
def test_catch_up_after_an_outage_that_ends_on_an_occurrence(
    queue: Queue, catch_up: dict[str, Any], hours: list[int], missed: int
) -> None:
    put(queue, **catch_up)

    fired = fire_due(queue.database, NOON + 10 * HOUR)

    assert nominals(queue) == [NOON + hour * HOUR for hour in hours]
    assert fired == Fired(fired=len(hours), missed=missed)
    assert ([(NOON + HOUR, "missed", missed)] if missed else []) == [
        each for each in ledger(queue) if each[1] == "missed"
    ]
    assert schedules.get(queue.database, "hourly").next == NOON + 11 * HOUR


@pytest.mark.parametrize(
    ("catch_up", "hours", "missed"),
    [({"catch_up": "none"}, [], 10), ({"catch_up": "last"}, [10], 9), ({"catch_up": "all", "most": 2}, [9, 10], 8)],
    ids=str,
)  # fmt: skip
def test_catch_up_after_an_outage_that_ends_between_occurrences(
    queue: Queue, catch_up: dict[str, Any], hours: list[int], missed: int
) -> None:
    put(queue, **catch_up)

    fired = fire_due(queue.database, NOON + 10 * HOUR + GRACE + MINUTE)

    assert nominals(queue) == [NOON + hour * HOUR for hour in hours]
    assert fired == Fired(fired=len(hours), missed=missed)
    assert [job["headers"] for job in jobs(queue)] == [{"minutehand-late": "true"}] * len(hours)


def test_occurrence_a_few_minutes_late_is_not_missed(queue: Queue) -> None:
    put(queue, "* * * * *")

    assert fire_due(queue.database, NOON + 4 * MINUTE) == Fired(fired=4)
    assert [job["headers"] for job in jobs(queue)] == [None] * 4


def test_catch_up_of_a_fast_schedule_is_bounded(queue: Queue) -> None:
    put(queue, "* * * * * *", catch_up="all", most=1000)

    first = fire_due(queue.database, NOON + 365 * DAY)

    assert 1000 <= first.fired <= 1100  # the rest comes with the next ticks
    rest = fire_due(queue.database, NOON + 365 * DAY)
    assert first.fired + rest.fired == 1000 + GRACE // timedelta(seconds=1) + 1
    assert fire_due(queue.database, NOON + 365 * DAY) == Fired()
    assert first.missed == 1000  # counted no further


def test_catch_up_does_not_reach_past_the_recorded_firings(queue: Queue) -> None:
    assert REACH < LEDGER_DAYS
    put(queue, "0 0 1 7 *", catch_up="last")

    fired = fire_due(queue.database, datetime(2030, 7, 1, tzinfo=UTC) + REACH + DAY)

    assert fired == Fired(missed=1)
    assert schedules.get(queue.database, "hourly").next == datetime(2031, 7, 1, tzinfo=UTC)


def test_firings_are_pruned_when_no_catch_up_needs_them(queue: Queue) -> None:
    put(queue)
    fire_due(queue.database, NOON + HOUR)
    fire_due(queue.database, NOON + 2 * HOUR)

    assert prune(queue.database, NOON + LEDGER_DAYS) == 0
    assert prune(queue.database, NOON + HOUR + LEDGER_DAYS + MINUTE) == 1
    assert ledger(queue) == [(NOON + 2 * HOUR, "fired", 1)]


def test_jitter_is_constant_for_a_schedule_name(queue: Queue) -> None:
    for name in ("one", "other"):
        put(queue, name=name, jitter=10 * MINUTE)
    for hour in (1, 2, 3):
        fire_due(queue.database, NOON + hour * HOUR)

    waits = {
        name: {
            (job["run_at"] - job["nominal"]) // timedelta(milliseconds=10)
            for job in jobs(queue)
            if job["schedule"] == name
        }
        for name in ("one", "other")
    }
    assert all(len(each) == 1 for each in waits.values())
    assert waits["one"] != waits["other"]
    assert all(0 <= wait.pop() < 60_000 for wait in waits.values())


def test_schedule_fires_between_its_start_and_its_end_only(queue: Queue) -> None:
    put(queue, starts=NOON + 90 * MINUTE, ends=NOON + 4 * HOUR)
    for hour in range(1, 8):
        fire_due(queue.database, NOON + hour * HOUR)

    assert nominals(queue) == [NOON + hour * HOUR for hour in (2, 3, 4)]
    assert schedules.get(queue.database, "hourly").next is None


def test_interval_counts_from_its_start_or_from_the_boundary(queue: Queue) -> None:
    put(queue, "PT45M", name="from its start", starts=NOON + MINUTE)
    put(queue, "PT20M", name="aligned", now=NOON + MINUTE)
    put(queue, "P1D", name="midnight", zone="Europe/Berlin")
    put(queue, "P1W", name="monday", zone="Europe/Berlin")
    next_of = {each.schedule.name: each.next for each in schedules.list_schedules(queue.database)}

    assert next_of == {
        "from its start": NOON + MINUTE,
        "aligned": NOON + 20 * MINUTE,
        "midnight": datetime(2030, 6, 4, tzinfo=BERLIN),
        "monday": datetime(2030, 6, 10, tzinfo=BERLIN),
    }


def test_zone_determines_the_local_time_of_a_firing(queue: Queue) -> None:
    put(queue, "0 8 * * mon", zone="Europe/Berlin", now=datetime(2030, 3, 28, tzinfo=UTC))
    fire_due(queue.database, datetime(2030, 4, 1, 6, tzinfo=UTC))  # a day after the clocks were changed

    assert nominals(queue) == [datetime(2030, 4, 1, 8, tzinfo=BERLIN)]


def test_overlap_skip_skips_until_the_last_job_is_finished(queue: Queue) -> None:
    put(queue, overlap="skip")
    fire_due(queue.database, NOON + HOUR)
    assert fire_due(queue.database, NOON + 2 * HOUR) == Fired(skipped=1)

    queue.sql("update minutehand.jobs_live set run_at = now(), visible = now()")
    (job,) = queue.take()
    assert fire_due(queue.database, NOON + 3 * HOUR) == Fired(skipped=1)
    finish(job, Done())
    assert fire_due(queue.database, NOON + 4 * HOUR) == Fired(fired=1)

    assert nominals(queue) == [NOON + HOUR, NOON + 4 * HOUR]
    assert [outcome for _, outcome, _ in ledger(queue)] == ["fired", "skipped", "skipped", "fired"]


def test_overlap_replace_replaces_only_the_pending_job(queue: Queue) -> None:
    put(queue, overlap="replace")
    for hour in (1, 2):
        fire_due(queue.database, NOON + hour * HOUR)
    assert nominals(queue) == [NOON + 2 * HOUR]

    queue.sql("update minutehand.jobs_live set run_at = now(), visible = now()")
    (running,) = queue.take()
    fire_due(queue.database, NOON + 3 * HOUR)

    assert nominals(queue) == [NOON + 2 * HOUR, NOON + 3 * HOUR]
    assert queue.row(running.id).state == "running"


def test_overlap_is_allowed_by_default(queue: Queue) -> None:
    put(queue)
    for hour in (1, 2, 3):
        assert fire_due(queue.database, NOON + hour * HOUR) == Fired(fired=1)


def test_change_withdraws_jobs_enqueued_ahead(queue: Queue) -> None:
    put(queue, ahead=3 * HOUR)
    assert fire_due(queue.database, NOON + MINUTE).fired == 3
    assert [job["visible"] > NOON for job in jobs(queue)] == [True] * 3

    put(queue, "30 * * * *", ahead=3 * HOUR, now=NOON + 70 * MINUTE)
    fire_due(queue.database, NOON + 71 * MINUTE)

    waiting = [job["nominal"] for job in jobs(queue) if job["deleted"] is None]
    assert waiting == [NOON + HOUR, *(NOON + n * HOUR + 30 * MINUTE for n in (1, 2, 3))]
    schedules.pause(queue.database, "hourly", now=NOON + 100 * MINUTE)
    assert [job["nominal"] for job in jobs(queue) if job["deleted"] is None] == waiting[:2]
    schedules.resume(queue.database, "hourly", now=NOON + 101 * MINUTE)
    fire_due(queue.database, NOON + 101 * MINUTE)
    assert [job["nominal"] for job in jobs(queue) if job["deleted"] is None] == [
        *waiting, NOON + 4 * HOUR + 30 * MINUTE
    ]  # fmt: skip


def test_resume_continues_with_the_next_future_occurrence(queue: Queue) -> None:
    put(queue, catch_up="all")
    schedules.pause(queue.database, "hourly", actor="ada", now=NOON)
    assert fire_due(queue.database, NOON + 5 * HOUR) == Fired()

    resumed = schedules.resume(queue.database, "hourly", actor="ada", now=NOON + 5 * HOUR)

    assert resumed.next == NOON + 6 * HOUR
    assert fire_due(queue.database, NOON + 6 * HOUR) == Fired(fired=1)
    assert nominals(queue) == [NOON + 6 * HOUR]


def test_run_now_does_not_affect_the_regular_occurrences(queue: Queue) -> None:
    put(queue)
    first, second = (schedules.run_now(queue.database, "hourly", actor="ada", now=NOON) for _ in range(2))

    assert first != second
    assert queue.row(first).state == "due"
    assert schedules.get(queue.database, "hourly").next == NOON + HOUR
    assert [outcome for _, outcome, _ in ledger(queue)] == ["asked", "asked"]
    assert fire_due(queue.database, NOON + HOUR) == Fired(fired=1)


def test_schedule_changes_are_recorded_in_the_audit_trail(queue: Queue) -> None:
    put(queue)
    for act in (schedules.pause, schedules.resume, schedules.run_now, schedules.remove):
        act(queue.database, "hourly", actor="ada")  # type: ignore[operator]

    trail = queue.sql("select who, verb, job, facts from minutehand.audit order by id")
    assert [(row["verb"], row["facts"]["schedule"]) for row in trail] == [
        (f"schedule {verb}", "hourly") for verb in ("put", "pause", "resume", "run", "remove")
    ]
    assert {row["who"] for row in trail[1:]} == {"ada"}
    assert isinstance(trail[3]["job"], UUID)


def test_only_a_timing_change_moves_the_next_occurrence(queue: Queue) -> None:
    put(queue, "PT7H", starts=NOON + 30 * MINUTE)
    later = NOON + 2 * HOUR

    put(queue, "PT7H", starts=NOON + 30 * MINUTE, job=NewJob("other"), now=later)
    assert schedules.get(queue.database, "hourly").next == NOON + 30 * MINUTE
    put(queue, "PT8H", starts=NOON + 30 * MINUTE, now=later)
    assert schedules.get(queue.database, "hourly").next == NOON + 30 * MINUTE + 8 * HOUR


def test_missing_schedule_is_not_found(queue: Queue) -> None:
    for act in (schedules.get, schedules.pause, schedules.resume, schedules.run_now, schedules.remove):
        with pytest.raises(NotFoundError):
            act(queue.database, "nothing")  # type: ignore[operator]


@pytest.mark.parametrize(
    ("said", "rule"),
    [
        ({"every": "whenever"}, "every_recurs"),
        ({"every": "@reboot"}, "every_recurs"),
        ({"zone": "Mars/Olympus"}, "zone_is_known"),
        ({"name": ""}, "schedule_is_named"),
        ({"name": "n" * 201}, "schedule_is_named"),
        ({"name": "a\0b"}, "schedule_is_named"),
        ({"starts": datetime(2030, 1, 1)}, "moment_is_finite"),
        ({"starts": NOON, "ends": NOON}, "schedule_ends_later"),
        ({"jitter": 2 * DAY}, "jitter_is_up_to_a_day"),
        ({"jitter": 5}, "number_is_in_range"),
        ({"ahead": -MINUTE}, "ahead_is_up_to_a_month"),
        ({"ahead": MINUTE, "overlap": "skip"}, "ahead_allows_overlap"),
        ({"catch_up": "some"}, "catch_up_is_known"),
        ({"overlap": "queue"}, "overlap_is_known"),
        ({"most": 0}, "most_is_1_to_1000"),
        ({"most": True}, "most_is_1_to_1000"),
        ({"job": "report"}, "schedule_has_a_job"),
        ({"job": NewJob("report", delay=MINUTE)}, "schedule_has_a_job"),
        ({"job": NewJob("report", {"a": "\0"})}, "text_is_text"),
        ({"job": NewJob("no kind")}, "kind_is_a_name"),
        ({"job": NewJob("report", priority=11)}, "priority_is_0_to_9"),
        ({"job": NewJob("report", "x" * 300_000)}, "payload_fits"),
        ({"job": NewJob("report", {1, 2})}, "payload_is_json"),
    ],
    ids=str,
)
def test_invalid_schedule_is_rejected(direct_queue: Queue, said: dict[str, Any], rule: str) -> None:
    with pytest.raises(InvalidJobError) as refused:
        put(direct_queue, **said)

    assert refused.value.rule == rule
    assert schedules.list_schedules(direct_queue.database) == []
    assert jobs(direct_queue) == []


def test_rejected_job_of_a_schedule_blocks_no_other_schedule(queue: Queue) -> None:
    for name in ("good", "large", "also good"):
        put(queue, name=name, job=NewJob("report", "x" * 5000 if name == "large" else None))
    queue.sql("update minutehand.settings set max_payload = 1000")

    fired = fire_due(queue.database, NOON + HOUR)

    assert fired.fired == 2
    assert [name for name, _ in fired.refused] == ["large"]
    assert ledger(queue, "large") == [(NOON + HOUR, "refused", 1)]
    assert schedules.get(queue.database, "large").next == NOON + 2 * HOUR


def test_unreadable_schedule_is_retried_and_blocks_no_other(queue: Queue) -> None:
    for name in ("good", "strange"):
        put(queue, name=name)
    queue.sql("update minutehand.schedules set every = 'full moon' where name = 'strange'")

    fired = fire_due(queue.database, NOON + HOUR)
    assert (fired.fired, [name for name, _ in fired.refused]) == (1, ["strange"])
    assert fire_due(queue.database, NOON + HOUR) == Fired()

    queue.sql("update minutehand.schedules set every = '0 * * * *' where name = 'strange'")
    assert fire_due(queue.database, NOON + 2 * HOUR).fired == 2


def test_preview_matches_the_firings(queue: Queue) -> None:
    put(queue, "30 2 * * *", zone="America/Los_Angeles", now=datetime(2030, 3, 8, tzinfo=UTC))
    shown = schedules.preview("30 2 * * *", "America/Los_Angeles", 4, after=datetime(2030, 3, 8, tzinfo=UTC))
    for moment in shown:
        fire_due(queue.database, moment.utc)

    assert nominals(queue) == [moment.utc for moment in shown]
    assert [f"{moment.local:%d %H:%M %z}" for moment in shown] == [
        "08 02:30 -0800", "09 02:30 -0800", "10 03:00 -0700", "11 02:30 -0700"
    ]  # fmt: skip


def test_schedule_of_a_tenant_enqueues_for_that_tenant(queue: Queue) -> None:
    put(queue)
    queue.sql("update minutehand.schedules set tenant = 'acme'")

    fire_due(queue.database, NOON + HOUR)

    assert [job["tenant"] for job in jobs(queue)] == ["acme"]
    assert queue.sql("select tenant from minutehand.firings") == [{"tenant": "acme"}]


@pytest.mark.parametrize("column", ["starts", "next", "wake"])
def test_infinite_time_is_rejected_in_every_schedule_column(queue: Queue, column: str) -> None:
    put(queue)

    with pytest.raises(CheckViolation):
        queue.sql(f"update minutehand.schedules set {column} = '-infinity'")  # type: ignore[arg-type]


def test_running_a_removed_schedule_raises_not_found(queue: Queue) -> None:
    stored = schedules.get(queue.database, put(queue))
    schedules.remove(queue.another(), "hourly")

    with pytest.raises(NotFoundError):
        enqueue_now(queue.database, stored, NOON)
