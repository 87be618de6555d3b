"""Checks of the schema and of the queue in it, most of which need what minutehand_operator may see."""

from datetime import timedelta

from minutehand.doctor.finding import Opinion, judged, ok, problem, warning
from minutehand.doctor.patient import Patient
from minutehand.errors import SchemaError
from minutehand.schema.migrate import check_schema, migrations

TICK = timedelta(minutes=1)
DEAD_PER_LIVE = 10
FEW_ROWS = 1000
LARGE_PAYLOAD = 4 * 1024 * 1024


def schema(patient: Patient) -> Opinion:
    """Whether the schema is exactly this code's."""
    try:
        check_schema(patient.database)
    except SchemaError as error:
        return problem(str(error), "run: minutehand migrate, with the version that the functions run")
    return ok(f"at version {migrations()[-1].version}, as this code's")


def roles(patient: Patient) -> Opinion:
    """Whether the roles are there and have their grants."""
    told = patient.ask_all("examine_roles")
    lacking = [f"{role['role']} lacks {', '.join(role['lacks'])}" for role in told if role["lacks"]]
    if lacking:
        return problem("; ".join(lacking), "as the schema's owner: select minutehand.grant_roles()")
    return judged(
        [f"there is no role {role['role']}" for role in told if not role["made"]],
        "as a role that may make roles and owns the schema: select minutehand.grant_roles()",
        "all five are there, and have their grants and policies",
        warning,
    )


def days(patient: Patient) -> Opinion:
    """Whether today's and tomorrow's finished jobs have their partitions."""
    return judged(
        [f"{day} has no partition" for day in patient.ask("examine_queue")["days_missing"]],
        "see why the dispatcher does not make them (its log), or: select minutehand.make_days()",
        "today and tomorrow have their partitions",
    )


def default_day(patient: Patient) -> Opinion:
    """Whether finished jobs lie where no day is theirs, and cannot be dropped with one."""
    if count := patient.ask("examine_queue")["without_day"]:
        return warning(
            f"{_many(count)} in jobs_done_default, finished on a day without a partition",
            "they are found and purged as all others; purge them, and that day can have its partition",
        )
    return ok("every finished job is in the partition of its day")


def dead_rows(patient: Patient) -> Opinion:
    """Whether vacuum keeps up with what the queue leaves behind."""
    queue = patient.ask("examine_queue")
    found = f"{queue['dead_rows']} dead rows beside {queue['live_rows']} live ones"
    if queue["dead_rows"] > DEAD_PER_LIVE * max(queue["live_rows"], FEW_ROWS):
        return problem(found, "see autovacuum and old-snapshot, then: vacuum minutehand.jobs_live")
    return ok(found)


def last_tick(patient: Patient) -> Opinion:
    """Whether the dispatcher ticks."""
    queue = patient.ask("examine_queue")
    if queue["ticked"] is None:
        never = problem if patient.stacked else warning
        return never(
            "no dispatcher has ever ticked here",
            "see the schedule and the dispatcher's log, or: minutehand tick",
        )
    since = queue["now"] - queue["ticked"]
    found = f"the last tick was {since.total_seconds():.0f} s ago"
    if since > 3 * TICK:
        return problem(found, "see the schedule, the dispatcher's log and its role, or: minutehand tick")
    return ok(found)


def late(patient: Patient) -> Opinion:
    """Whether due jobs wait for longer than two ticks."""
    late = {
        record["queue"]: record["late"] for record in patient.database.run("count_due", limit=1, now=None)
    }
    return judged(
        [
            f"in queue {queue} a job is due for {wait.total_seconds():.0f} s"
            for queue, wait in late.items()
            if wait > 2 * TICK
        ],
        "see last-tick; if it ticks, capacity is used up or workers fail: minutehand ls --state running",
        "no job is due for longer than two ticks",
    )


def dead(patient: Patient) -> Opinion:
    """Whether dead jobs wait for somebody to look at them."""
    if count := patient.ask("examine_queue")["dead"]:
        return warning(
            f"{_many(count)} died in the last seven days",
            "look: minutehand ls --state dead; then minutehand retry, or minutehand purge",
        )
    return ok("no job died in the last seven days")


def max_payload(patient: Patient) -> Opinion:
    """Whether payloads may be larger than the API and the database are good for."""
    most = patient.ask("examine_queue")["max_payload"]
    if most > LARGE_PAYLOAD:
        return warning(
            f"payloads may have {most} bytes, more than the API can take in or show",
            "keep large things in S3 and their names in payloads: update minutehand.settings set max_payload = 262144",
        )
    return ok(f"payloads have at most {most} bytes")


def _many(count: int) -> str:
    return "1 job" if count == 1 else f"{'1000 jobs or more' if count >= 1000 else f'{count} jobs'}"
