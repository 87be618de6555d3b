"""`minutehand retry`, `cancel`, `promote`, `reschedule`, `remove` and `replay`: what people do to jobs by hand."""

from collections.abc import Callable, Sequence
from datetime import timedelta
from functools import partial
from typing import Any, TypeVar
from uuid import UUID

import click

from minutehand.cli.changing import UPCOMING, Asked, Verb, change
from minutehand.cli.options import connection_options, filter_options, output_option, tenant_option, tz_option
from minutehand.cli.values import duration, job_id_or_stdin, option_moment
from minutehand.cli.who import who
from minutehand.database import Database
from minutehand.operations import jobs as operate
from minutehand.operations.jobs import Change
from minutehand.queries.jobs import STATES, clock

Decorated = TypeVar("Decorated", bound=Callable[..., Any])


def ids_or_filters(command: Decorated) -> Decorated:
    """Add what chooses jobs, and what makes a change of many of them safe."""
    for option in (
        connection_options,
        tenant_option,
        output_option("table", "json", "ids"),
        click.option("--yes", is_flag=True, help="Do not ask before many jobs are changed."),
        click.option("--dry-run", is_flag=True, help="Change nothing; show which jobs would be."),
        filter_options(STATES),
        click.argument("ids", nargs=-1, type=job_id_or_stdin),
    ):
        command = option(command)
    return command


@click.command()
@ids_or_filters
def retry(**asked: Any) -> int:
    """Bring dead and cancelled jobs back, due at once and with all their attempts.

    Name IDS, pipe them in (`-`), or choose by filters; without --state, all dead and cancelled ones that match.

    \b
    Examples:
      minutehand retry 019c2f6e-8f0a-7c3d-9a51-3f6f0f4f2a10
      minutehand retry --kind welcome --dry-run
      minutehand ls --state dead -o ids | minutehand retry -
    """
    return change(Verb("retried", ("dead", "cancelled"), partial(operate.retry, who=who())), Asked(**asked))


@click.command()
@click.option("--reason", default="by hand", show_default=True, help="Why, as the job's history will tell.")
@click.option("--running", is_flag=True, help="Ask running jobs to end, too: at their next check.")
@ids_or_filters
def cancel(reason: str, running: bool, **asked: Any) -> int:
    """End jobs that have not begun; they stay in the history as cancelled.

    Name IDS, pipe them in (`-`), or choose by filters. A running job is refused, or with --running asked to end.

    \b
    Examples:
      minutehand cancel 019c2f6e-8f0a-7c3d-9a51-3f6f0f4f2a10
      minutehand cancel --queue mail --kind newsletter --reason "wrong text"
    """
    possible = (*UPCOMING, "running") if running else UPCOMING
    act = partial(operate.cancel, reason=reason, running=running, who=who())
    return change(Verb("cancelled", possible, act), Asked(**asked))


@click.command()
@ids_or_filters
def promote(**asked: Any) -> int:
    """Make jobs due at once.

    Name IDS, pipe them in (`-`), or choose by filters. A running job is refused.

    \b
    Examples:
      minutehand promote 019c2f6e-8f0a-7c3d-9a51-3f6f0f4f2a10
      minutehand promote --state retrying --kind welcome --yes
    """
    return change(Verb("promoted", UPCOMING, partial(operate.promote, who=who())), Asked(**asked))


@click.command()
@click.option(
    "--at", metavar="MOMENT", help="ISO 8601 with an offset, as 2026-03-01T08:00:00+01:00, or with --tz."
)
@click.option("--in", "delay", type=duration, help="From now, as 90s, 10m, 2h30m, 3d.")
@tz_option
@ids_or_filters
def reschedule(at: str | None, delay: timedelta | None, tz: str | None, **asked: Any) -> int:
    """Move jobs to another moment; one in the past means now.

    Name IDS, pipe them in (`-`), or choose by filters. A running job is refused.

    \b
    Examples:
      minutehand reschedule 019c2f6e-8f0a-7c3d-9a51-3f6f0f4f2a10 --in 2h30m
      minutehand reschedule --kind newsletter --at 2026-03-01T08:00 --tz Europe/Berlin --yes
    """
    if (at is None) == (delay is None):
        raise click.UsageError("say --at or --in, one of them")
    moment = None if at is None else option_moment(at, tz, "--at")

    def move(database: Database, ids: Sequence[UUID]) -> list[Change]:
        return operate.reschedule(database, ids, moment or later(database, delay or timedelta()), who=who())

    return change(Verb("rescheduled", UPCOMING, move), Asked(**asked))


@click.command()
@ids_or_filters
def remove(**asked: Any) -> int:
    """Delete jobs that have not begun; unlike cancelled ones they leave no trace but that in the audit trail.

    Name IDS, pipe them in (`-`), or choose by filters. A running job is refused.

    \b
    Examples:
      minutehand remove 019c2f6e-8f0a-7c3d-9a51-3f6f0f4f2a10
      minutehand remove --key report/4711 --dry-run
    """
    return change(Verb("removed", UPCOMING, partial(operate.remove, who=who())), Asked(**asked))


@click.command()
@click.option(
    "--max-attempts", type=int, default=1, show_default=True, help="How many attempts the clone has."
)
@click.option("--suffix", default="", help="What to add to the clone's key, where that has an upcoming job.")
@ids_or_filters
def replay(max_attempts: int, suffix: str, **asked: Any) -> int:
    """Run finished jobs again, as new ones: due now, with one attempt, and without recurring.

    Name IDS, pipe them in (`-`), or choose by filters. The jobs themselves stay in the history.

    \b
    Examples:
      minutehand replay 019c2f6e-8f0a-7c3d-9a51-3f6f0f4f2a10
      minutehand replay --kind report --state done --dry-run
    """
    act = partial(operate.replay, max_attempts=max_attempts, suffix=suffix, who=who())
    return change(Verb("replayed", ("done", "dead", "cancelled"), act), Asked(**asked))


def later(database: Database, delay: timedelta) -> Any:
    """Return the moment after a delay, by the database's clock."""
    try:
        return clock(database) + delay
    except OverflowError:
        raise click.BadParameter("that is after the year 9999", param_hint="--in") from None
