"""When a schedule fires: jitter, start, end, interval and zone."""

from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

from minutehand import NewJob, schedules
from minutehand.schedules.fire import fire_due
from tests.queue.schedules.stage import HOUR, MINUTE, NOON, jobs, nominals, save
from tests.queue.stage import Queue

BERLIN = ZoneInfo("Europe/Berlin")


def test_jitter_is_constant_for_a_schedule_name(queue: Queue) -> None:
    for name in ("one", "other"):
        save(queue, name=name, jitter=10 * MINUTE)
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
    save(queue, starts=NOON + 90 * MINUTE, ends=NOON + 4 * HOUR)
    for hour in range(1, 8):
        fire_due(queue.database, NOON + hour * HOUR)

    assert nominals(queue) == [NOON + hour * HOUR for hour in (2, 3, 4)]
    assert schedules.get(queue.database, "hourly").next is None


def test_interval_counts_from_its_start_or_from_the_boundary(queue: Queue) -> None:
    save(queue, "PT45M", name="from its start", starts=NOON + MINUTE)
    save(queue, "PT20M", name="aligned", now=NOON + MINUTE)
    save(queue, "P1D", name="midnight", zone="Europe/Berlin")
    save(queue, "P1W", name="monday", zone="Europe/Berlin")
    next_of = {each.schedule.name: each.next for each in schedules.list_schedules(queue.database)}

    assert next_of == {
        "from its start": NOON + MINUTE,
        "aligned": NOON + 20 * MINUTE,
        "midnight": datetime(2030, 6, 4, tzinfo=BERLIN),
        "monday": datetime(2030, 6, 10, tzinfo=BERLIN),
    }


def test_zone_determines_the_local_time_of_a_firing(queue: Queue) -> None:
    save(queue, "0 8 * * mon", zone="Europe/Berlin", now=datetime(2030, 3, 28, tzinfo=UTC))
    # A day after the start of DST.
    fire_due(queue.database, datetime(2030, 4, 1, 6, tzinfo=UTC))

    assert nominals(queue) == [datetime(2030, 4, 1, 8, tzinfo=BERLIN)]


def test_only_a_timing_change_moves_the_next_occurrence(queue: Queue) -> None:
    save(queue, "PT7H", starts=NOON + 30 * MINUTE)
    later = NOON + 2 * HOUR

    save(queue, "PT7H", starts=NOON + 30 * MINUTE, job=NewJob("other"), now=later)
    assert schedules.get(queue.database, "hourly").next == NOON + 30 * MINUTE
    save(queue, "PT8H", starts=NOON + 30 * MINUTE, now=later)
    assert schedules.get(queue.database, "hourly").next == NOON + 30 * MINUTE + 8 * HOUR


def test_preview_matches_the_firings(queue: Queue) -> None:
    save(queue, "30 2 * * *", zone="America/Los_Angeles", now=datetime(2030, 3, 8, tzinfo=UTC))
    shown = schedules.preview("30 2 * * *", "America/Los_Angeles", 4, after=datetime(2030, 3, 8, tzinfo=UTC))
    for moment in shown:
        fire_due(queue.database, moment.utc)

    assert nominals(queue) == [moment.utc for moment in shown]
    assert [f"{moment.local:%d %H:%M %z}" for moment in shown] == [
        "08 02:30 -0800",
        "09 02:30 -0800",
        "10 03:00 -0700",
        "11 02:30 -0700",
    ]
