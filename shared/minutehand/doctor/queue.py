"""Checks of the schema and of the queue; most need the privileges of minutehand_operator or minutehand_reader."""

from datetime import timedelta

from minutehand.doctor.examined import ExaminedDatabase
from minutehand.doctor.finding import Opinion, judged, ok, problem, warning
from minutehand.errors import SchemaError
from minutehand.model.display import span
from minutehand.operations.controls import pause_of_everything
from minutehand.queries.statistics import UNSERVED_AFTER, unserved
from minutehand.schema.migrate import check_schema
from minutehand.schema.steps import migrations

TICK = timedelta(minutes=1)
# SweepMinutes allows no longer ones.
LONGEST_SWEEP = timedelta(hours=6)
DEAD_PER_LIVE = 10
FEW_ROWS = 1000
# Of the queues with late jobs, those with the latest ones are named.
NAMED = 5
LARGE_PAYLOAD = 4 * 1024 * 1024
NOT_SERVED = f", and no worker has taken its jobs for {UNSERVED_AFTER.total_seconds() / 60:.0f} minutes"


def schema(examined: ExaminedDatabase) -> Opinion:
    """Whether the schema has the version of this code."""
    try:
        check_schema(examined.database)
    except SchemaError as error:
        return problem(str(error), "with the version that the functions run: minutehand migrate")
    return ok(f"version {migrations()[-1].version}, as this code requires")


def roles(examined: ExaminedDatabase) -> Opinion:
    """Whether the roles exist and have their grants."""
    roles = examined.query_all("examine_roles")
    lacking = [f"{role['role']} lacks {', '.join(role['lacks'])}" for role in roles if role["lacks"]]
    if lacking:
        return problem("; ".join(lacking), "as the schema's owner: select minutehand.grant_roles()")
    return judged(
        [f"the role does not exist: {role['role']}" for role in roles if not role["made"]],
        "as the schema's owner, with the privilege to create roles: select minutehand.grant_roles()",
        "all six exist and have their grants and policies",
        warning,
    )


def days(examined: ExaminedDatabase) -> Opinion:
    """Whether the partitions for today's and tomorrow's finished jobs exist."""
    return judged(
        [f"{day} has no partition" for day in examined.query("examine_queue")["days_missing"]],
        "see the dispatcher's log, or: select minutehand.make_days()",
        "today and tomorrow have their partitions",
    )


def default_day(examined: ExaminedDatabase) -> Opinion:
    """Whether finished jobs are in the default partition, which cannot be dropped by day."""
    if count := examined.query("examine_queue")["without_day"]:
        return warning(
            f"{_many(count)} in jobs_done_default, finished on a day without a partition",
            "delete them, so that the partition of that day can be created",
        )
    return ok("every finished job is in the partition of its day")


def dead_rows(examined: ExaminedDatabase) -> Opinion:
    """Whether vacuum keeps up with the dead rows of the queue."""
    queue = examined.query("examine_queue")
    found = f"{queue['dead_rows']} dead rows and {queue['live_rows']} live ones"
    if queue["dead_rows"] > DEAD_PER_LIVE * max(queue["live_rows"], FEW_ROWS):
        return problem(found, "see autovacuum and old-snapshot, then: vacuum minutehand.jobs_live")
    return ok(found)


def last_tick(examined: ExaminedDatabase) -> Opinion:
    """Whether the dispatcher ticks every minute, or in mode sleep at least at each sweep."""
    queue = examined.query("examine_queue")
    if queue["ticked"] is None:
        never = problem if examined.stacked else warning
        return never(
            "no dispatcher has ticked yet",
            "see the schedule and the dispatcher's log, or: minutehand tick",
        )
    since = queue["now"] - queue["ticked"]
    found = f"the last tick was {span(since)} ago"
    if since > (LONGEST_SWEEP + TICK if queue["mode"] == "sleep" else 3 * TICK):
        return problem(found, "see the schedule, the dispatcher's log and its role, or: minutehand tick")
    return ok(found)


def wakeup(examined: ExaminedDatabase) -> Opinion:
    """Whether the latest tick in mode sleep could create the wake-up of the next one."""
    queue = examined.query("examine_queue")
    if queue["wakeup_failed"] is None:
        return ok("no wake-up of mode sleep is missing")
    return problem(
        f"a tick could not create the wake-up of the next one at {queue['wakeup_failed']:%Y-%m-%d %H:%M %Z}: "
        f"{queue['wakeup_error']}",
        "see the role of the dispatcher and the schedule group, then: minutehand tick",
    )


def paused(examined: ExaminedDatabase) -> Opinion:
    """Whether all jobs are paused."""
    if pause := pause_of_everything(examined.database):
        reason = f": {pause.reason}" if pause.reason else ""
        return warning(
            f"all jobs are paused since {pause.changed:%Y-%m-%d %H:%M %Z}{reason}",
            "if the reason is over, run: minutehand resume --all",
        )
    return ok("not all jobs are paused; for other pauses: minutehand controls")


def late(examined: ExaminedDatabase) -> Opinion:
    """Whether due jobs wait longer than two ticks, or no worker takes the jobs of a queue."""
    found = examined.database.run("count_due", limit=1, now=None)
    due = sorted((each for each in found if each["late"] > 2 * TICK), key=lambda each: -each["late"])
    more = len(due) - NAMED
    alone = sorted(each.queue for each in unserved(examined.database))
    return judged(
        [
            f"queue {each['queue']} has a job that has been due for {span(each['late'])}"
            + NOT_SERVED * (each["queue"] in alone)
            for each in due[:NAMED]
        ]
        + [f"{more} other queue{'s' * (more > 1)} too"] * (more > 0),
        f"see last-tick; without a dispatcher, run: minutehand work{_served(alone)}"
        if alone
        else f"see last-tick; if it is ok: minutehand why {due[0]['queue'] if due else ''}".rstrip(),
        "no job has been due for more than two ticks",
    )


def _served(queues: list[str]) -> str:
    """Return the option with which a worker serves these queues; without it, it serves all."""
    return f" --queue {','.join(queues)}" if len(queues) <= NAMED else ""


def dead(examined: ExaminedDatabase) -> Opinion:
    """Whether jobs died recently."""
    if count := examined.query("examine_queue")["dead"]:
        return warning(
            f"{_many(count)} died in the last seven days",
            "see: minutehand ls --state dead; then: minutehand retry --state dead, "
            "or: minutehand delete --state dead --finished-until 0s",
        )
    return ok("no job died in the last seven days")


def schedules(examined: ExaminedDatabase) -> Opinion:
    """Whether schedules could not fire."""
    return judged(
        examined.query("examine_queue")["failed_schedules"],
        "see: minutehand schedules show; if code declares the schedule, correct it there; otherwise, correct it with: "
        "minutehand schedules put, or delete it",
        "every schedule fired at its last occurrence",
    )


def batches(examined: ExaminedDatabase) -> Opinion:
    """Whether a program left a batch open."""
    return judged(
        examined.query("examine_queue")["open_batches"],
        "if the program that opened it has died, run: minutehand batches close",
        "no batch has been open for more than a day",
    )


def loads(examined: ExaminedDatabase) -> Opinion:
    """Whether killed loads have left tables of staged jobs."""
    return judged(
        examined.query("examine_queue")["dead_loads"],
        "the next load or sweep removes it; to enter its jobs, repeat the load",
        "no killed load has left a table",
        warning,
    )


def max_payload(examined: ExaminedDatabase) -> Opinion:
    """Whether payloads may be larger than the API accepts."""
    limit = examined.query("examine_queue")["max_payload"]
    if limit > LARGE_PAYLOAD:
        return warning(
            f"payloads may have {limit} bytes, more than the API can accept or return",
            "store large values in S3, then: update minutehand.settings set max_payload = 262144",
        )
    return ok(f"payloads have at most {limit} bytes")


def _many(count: int) -> str:
    return "1 job" if count == 1 else f"{'1000 jobs or more' if count >= 1000 else f'{count} jobs'}"
