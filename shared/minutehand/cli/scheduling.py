"""`minutehand schedules put`: a schedule by its arguments."""

import sys
from datetime import timedelta
from typing import Any

import click

from minutehand import schedules as library
from minutehand.cli import text
from minutehand.cli.options import connection_options, open_database, tenant_option, tz_option
from minutehand.cli.output import say
from minutehand.cli.policy import retry_of, retry_options
from minutehand.cli.values import duration, option_moment, parse_json
from minutehand.cli.who import who
from minutehand.model.new_job import NewJob
from minutehand.schedules import Schedule
from minutehand.schedules.timing import CatchUp, Overlap


@click.command()
@click.argument("name")
@click.argument("every")
@click.argument("kind")
@click.argument("payload", default="null")
@click.option("--zone", help="The time zone whose clocks count, as Europe/Berlin.  [UTC]")
@click.option(
    "--starts", metavar="MOMENT", help="ISO 8601 with an offset, or with --tz; durations count from it."
)
@click.option("--ends", metavar="MOMENT", help="After this moment it fires no more.")
@tz_option
@click.option(
    "--jitter", type=duration, default="0s", help="Jobs run up to so much later, by the name's own share."
)
@click.option("--ahead", type=duration, default="0s", help="Jobs are enqueued so long before their moment.")
@click.option(
    "--catch-up",
    type=click.Choice(["none", "last", "all"]),
    default="none",
    show_default=True,
    help="What becomes of moments that an outage swallowed.",
)
@click.option(
    "--most", type=int, default=100, show_default=True, help="With --catch-up all: how many at most."
)
@click.option(
    "--overlap",
    type=click.Choice(["allow", "skip", "replace"]),
    default="allow",
    show_default=True,
    help="What a moment does while the last job is not finished.",
)
@click.option("--queue", help="The queue of its jobs.")
@click.option("--key", help="The key of its jobs.")
@click.option("--priority", type=int, help="0 to 9; 9 goes first.")
@click.option("--max-attempts", type=int, help="How many attempts there are; 1 is no retry.")
@click.option("--timeout", type=duration, help="How long an attempt may take, as 90s; at most 24h.")
@retry_options
@tenant_option
@connection_options
def put(
    name: str, every: str, kind: str, payload: str, *, zone: str | None, starts: str | None, ends: str | None,
    tz: str | None, jitter: timedelta, ahead: timedelta, catch_up: CatchUp, most: int, overlap: Overlap, **job: Any,
) -> None:  # fmt: skip
    """Write the schedule NAME: EVERY is cron of 5 or 6 fields, @daily and its like, or ISO 8601 as PT15M.

    Each of its moments enqueues a job of KIND with PAYLOAD, which is JSON (- reads it from stdin). A schedule of that
    name is changed.

    \b
    Examples:
      minutehand schedules put report '0 8 * * mon' report '{"n": 1}' --zone Europe/Berlin
      minutehand schedules put clean PT6H clean --catch-up last --overlap skip --queue slow
    """
    schedule = Schedule(
        name, every, _job(kind, payload, **job), zone,
        starts=option_moment(starts, tz, "--starts") if starts else None,
        ends=option_moment(ends, tz, "--ends") if ends else None,
        jitter=jitter, ahead=ahead, catch_up=catch_up, most=most, overlap=overlap,
    )  # fmt: skip
    with open_database() as database:
        stored = library.save(database, schedule, actor=who())
    say(f"{name}: next {text.local(stored.next) if stored.next else 'never'}")


def _job(
    kind: str, payload: str, queue: str | None, key: str | None, priority: int | None, max_attempts: int | None,
    timeout: timedelta | None, **retry: Any,
) -> NewJob:  # fmt: skip
    try:
        said = parse_json(sys.stdin.read() if payload == "-" else payload)
    except ValueError as error:
        raise click.BadParameter(f"the payload is not JSON: {error}", param_hint="PAYLOAD") from None
    return NewJob(
        kind, said, queue, key, priority=priority, max_attempts=max_attempts, timeout=timeout,
        retry=retry_of(**retry),
    )  # fmt: skip
