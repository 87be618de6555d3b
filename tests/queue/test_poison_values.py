"""No stored value can fail a tick: a due job is offered and a good schedule fires, whatever SQL wrote."""

from datetime import UTC, datetime
from typing import LiteralString

import psycopg
import pytest

from minutehand import NewJob, schedules
from minutehand.model.worker_route import WorkerRoutes
from minutehand.settings import Settings
from minutehand.testing.invoker import RecordingInvoker
from minutehand.tick import Tick, tick
from tests.queue.stage import Queue

pytestmark = pytest.mark.every_version

SETTINGS = Settings(workers=WorkerRoutes("worker"))
# A due schedule as SQL writes it; a poison changes some of its columns.
SCHEDULE: LiteralString = """
    insert into minutehand.schedules (name, every, zone, job, next, wake)
    values ('poison', 'PT1M', 'UTC', '{"kind": "echo"}', now() - interval '1 minute', now() - interval '1 minute');
    update minutehand.schedules set """
RECURRING: LiteralString = """
    insert into minutehand.jobs_live (kind, attempts, max_attempts, visible, run_at, every, zone, nominal)
    values ('echo', 1, 1, now() - interval '1 minute', now(), """
DEEP: LiteralString = "(repeat('[', 6500) || repeat(']', 6500))"

# The schedule is set aside, or its occurrence is recorded as refused, and its error is stored.
BAD_SCHEDULES: dict[str, LiteralString] = {
    "unknown zone": "zone = 'Mars/Olympus'",
    "zone in another case": "zone = 'Europe/berlin'",
    "every is not a recurrence": "every = 'full moon'",
    "every is empty": "every = ''",
    "every has huge numbers": "every = 'P' || repeat('9', 150) || '.5Y'",
    "every has huge fields": "every = repeat('9', 150) || ' * * * *'",
    "jitter overflows a timedelta": "jitter = '-71582788 months 2147483640 days'",
    "ahead overflows a timedelta": "ahead = '-71582788 months 2147483640 days'",
    "job is an array": "job = '[]'",
    "job is a number": "job = '1e9999'",
    "job is null": "job = 'null'",
    "job has no kind": "job = '{}'",
    "kind is a number": """job = '{"kind": 5.5}'""",
    "queue is an object": """job = '{"kind": "echo", "queue": {}}'""",
    "priority is huge": """job = '{"kind": "echo", "priority": 1e400}'""",
    "timeout is not an interval": """job = '{"kind": "echo", "timeout": "soon"}'""",
    "payload has a NUL": """job = '{"kind": "echo", "headers": {"a": "\\u0000"}}'""",
    "job is nested deeply": """job = ('{"kind": "echo", "headers": ' || """ + DEEP + """ || '}')::json""",
}
# The schedule fires, or is over.
ODD_SCHEDULES: dict[str, LiteralString] = {
    "next is in year 1": "next = '0001-01-02 00:00+00', wake = '0001-01-02 00:00+00'",
    "next is in year 9999": "next = '9999-12-30 23:59+00'",
    "starts in year 9999": "starts = '9999-12-30 23:59+00'",
    "starts in year 1": "starts = '0001-01-02 00:00+00', every = 'PT1S', catch_up = 'all', max_catch_up = 1000",
    "fired at infinity": "fired = 'infinity'",
    "tenant with a colon": "tenant = 'a:b'",
    "overlap with an unknown job": "overlap = 'skip', last = gen_random_uuid()",
    "run_at is infinity": """job = '{"kind": "echo", "run_at": "infinity"}'""",
    "job has a broken recurrence": """job = '{"kind": "echo", "every": "never"}'""",
}
OTHERS: dict[str, LiteralString] = {
    "recurring job in an unknown zone": RECURRING + "'P1D', 'Mars/Olympus', now())",
    "recurring job without a recurrence": RECURRING + "'whenever', null, now())",
    "recurring job with huge numbers": RECURRING + "'P' || repeat('9', 150) || '.5Y', null, now())",
    "recurring job in year 9999": RECURRING + "'P1D', null, '9999-12-30 23:59+00')",
    "recurring job in year 1": RECURRING + "'PT1S', null, '0001-01-02 00:00+00')",
    "lane with an infinite floor": "insert into minutehand.lanes (queue, priority, floor)"
    " values ('other', 1, 'infinity')",
    "infinite ticks": "update minutehand.dispatcher set ticked = 'infinity', since = 'infinity'",
    "infinite sweep": "update minutehand.dispatcher set swept = 'infinity'",
    "pause without an end": "insert into minutehand.controls (queue, paused, until) values ('other', true, 'infinity')",
    "pause in the past": "insert into minutehand.controls (paused, until) values (true, '-infinity')",
    "huge limit": "insert into minutehand.controls (kind, max_running) values ('echo', 2147483647)",
    "limit for a strange key": "insert into minutehand.controls (key, max_running) values (repeat('ä', 500), 0)",
    "huge budget": "insert into minutehand.budgets values ('default', 2147483647, now())",
    "budget of the far future": "insert into minutehand.budgets values ('default', 10, '294276-01-01')",
    "budget of the far past": "insert into minutehand.budgets values ('default', 10, '4000-01-01 BC')",
    "longest retention": "insert into minutehand.retention values ('', 'done', '36500 days')",
    "retention of nothing": "insert into minutehand.retention values ('', 'dead', '0')",
    "infinite day": "insert into minutehand.kept_days values ('jobs_done', 'infinity', 'infinity')",
    "infinite key": "insert into minutehand.uniques values ('', 'default', 'k', 'infinity', gen_random_uuid())",
    "odd times of a job": "insert into minutehand.jobs_live"
    " (kind, attempts, max_attempts, visible, claimed, offered, latest)"
    " values ('echo', 1, 1, '0001-01-02 00:00+00', 'infinity', '-infinity', 'infinity')",
    "odd times of a cancelled job": "insert into minutehand.jobs_live (kind, cancelling, visible, claimed)"
    " values ('echo', 'x', '0001-01-02 00:00+00', '-infinity')",
    "tiny payloads": "update minutehand.settings set max_payload = 1",
}
REJECTED: dict[str, LiteralString] = {
    "zone of the system": SCHEDULE + "zone = 'localtime'",
    "zone in a folder of the system": SCHEDULE + "zone = 'posix/Europe/Berlin'",
    "zone outside the list": SCHEDULE + "zone = '../../etc/passwd'",
    "long every": SCHEDULE + "every = repeat('1,', 100) || '1 * * * *'",
    "infinite next": SCHEDULE + "next = 'infinity'",
    "infinite budget": "insert into minutehand.budgets values ('default', 10, '-infinity')",
    "retention of a billion days": "insert into minutehand.retention values ('', 'done', '999999999 days')",
    "retention of a billion months": "insert into minutehand.retention values ('', 'done', '999999999 months')",
}


@pytest.mark.parametrize("poison", BAD_SCHEDULES.values(), ids=BAD_SCHEDULES)
def test_bad_schedule_is_set_aside_and_the_tick_goes_on(direct_queue: Queue, poison: LiteralString) -> None:
    began = datetime.now(UTC)
    ticked = run(direct_queue, SCHEDULE + poison + " where name = 'poison'")

    assert ticked.maintenance.failed == ()
    assert [name for name, _ in ticked.maintenance.fired.refused] == ["poison"]  # type: ignore[union-attr]
    (row,) = direct_queue.sql("select error, wake from minutehand.schedules where name = 'poison'")
    # The next minute may have begun since the tick.
    assert row["wake"] > began
    assert {"type", "message", "at"} == set(row["error"])


@pytest.mark.parametrize("poison", ODD_SCHEDULES.values(), ids=ODD_SCHEDULES)
def test_odd_schedule_does_not_stop_a_tick(direct_queue: Queue, poison: LiteralString) -> None:
    ticked = run(direct_queue, SCHEDULE + poison + " where name = 'poison'")

    assert (ticked.maintenance.failed, ticked.maintenance.fired.refused) == ((), ())  # type: ignore[union-attr]


@pytest.mark.parametrize("poison", OTHERS.values(), ids=OTHERS)
def test_odd_value_does_not_stop_a_tick(direct_queue: Queue, poison: LiteralString) -> None:
    assert run(direct_queue, poison).maintenance.failed == ()


@pytest.mark.parametrize("poison", REJECTED.values(), ids=REJECTED)
def test_value_that_no_tick_can_use_is_rejected(direct_queue: Queue, poison: LiteralString) -> None:
    with pytest.raises((psycopg.errors.CheckViolation, psycopg.errors.DataError)):
        direct_queue.sql(poison)


@pytest.mark.parametrize(
    "broken",
    [
        "cancel_lapsed",
        "ending_recurring",
        "reap",
        "due_schedules",
        "raise_floor",
        "start_sweep",
        "sweep",
        "make_days",
        "free_keys",
        "prune_firings",
        "retain",
        "count_due",
    ],
)
@pytest.mark.parametrize("error", [RuntimeError("any"), RecursionError("deep")], ids=["any", "deep"])
def test_failing_step_stops_no_other(direct_queue: Queue, broken: str, error: Exception) -> None:
    direct_queue.enqueue()
    run_statement = direct_queue.database.run

    def run(name: str, /, **parameters: object) -> list[dict[str, object]]:
        if name == broken:
            raise error
        return run_statement(name, **parameters)

    direct_queue.database.run = run  # type: ignore[method-assign]
    ticked = tick(direct_queue.database, RecordingInvoker(), SETTINGS)

    assert len(ticked.offered.offers) == 1
    assert len(ticked.maintenance.failed) == (broken != "count_due")


def run(queue: Queue, poison: LiteralString) -> Tick:
    """Run a tick that sweeps, after SQL wrote a value; a due job is offered and a good schedule fires."""
    job_id = queue.enqueue()
    schedules.save(queue.database, schedules.Schedule("good", "* * * * *", NewJob("later", queue="later")))
    queue.sql("update minutehand.schedules set next = date_trunc('minute', now()), wake = now()")
    queue.sql(poison)
    began = datetime.now(UTC)
    ticked = tick(queue.database, RecordingInvoker(), SETTINGS)

    assert job_id in [offer.id for offer in ticked.offered.offers]
    assert ticked.maintenance.swept
    assert schedules.get(queue.database, "good").fired is not None
    assert schedules.get(queue.database, "good").next > began  # type: ignore[operator]
    return ticked
