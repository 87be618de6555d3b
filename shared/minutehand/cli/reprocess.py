"""`minutehand redrive` and `reprocess`: the dead come back at a chosen rate, and what old code did is done again."""

from collections.abc import Callable
from datetime import timedelta
from typing import Any, TypeVar

import click

from minutehand.cli import text
from minutehand.cli.changing import Tally, Verb
from minutehand.cli.confirm import confirmed
from minutehand.cli.options import connection_options, open_database, output_option, tenant_option, tz_option
from minutehand.cli.output import say
from minutehand.cli.values import duration, option_moment
from minutehand.cli.who import who
from minutehand.database import Database
from minutehand.operations import again as work

Decorated = TypeVar("Decorated", bound=Callable[..., Any])


def finished_filters(command: Decorated) -> Decorated:
    """Add what chooses finished jobs, and what makes it safe."""
    for option in (
        connection_options,
        tenant_option,
        output_option("table", "json", "ids"),
        click.option("--yes", is_flag=True, help="Do not ask."),
        click.option("--dry-run", is_flag=True, help="Change nothing; show which jobs it would be."),
        click.option(
            "--most", type=click.IntRange(1), default=work.MOST, show_default=True, help="At most so many."
        ),
        tz_option,
        click.option("--before", metavar="MOMENT", help="Finished before this."),
        click.option("--since", metavar="MOMENT", help="Finished at this moment or later."),
        click.option("--kind", help="Only of this kind."),
        click.option("--queue", help="Only of this queue."),
    ):
        command = option(command)
    return command


@click.command()
@click.option("--per-minute", type=float, required=True, help="How many come back a minute.")
@finished_filters
def redrive(per_minute: float, **asked: Any) -> int:
    """Bring dead jobs back at a chosen rate, with all their attempts; those that died last first.

    \b
    Examples:
      minutehand redrive --queue mail --per-minute 60 --dry-run
      minutehand redrive --per-minute 10 --since 2026-03-01T08:00+01:00 --yes
    """
    return _run("redriven", asked, {"states": ["dead"]}, {"per_minute": per_minute}, work.redrive)


@click.command()
@click.option("--older-than", metavar="VERSION", help="Finished by code of an older version, by its numbers.")
@click.option("--other-than", metavar="VERSION", help="Finished by code of any other version.")
@click.option(
    "--state", "states", type=click.Choice(["done", "dead", "cancelled"]), multiple=True, default=["done"],
    show_default=True, help="In this state; repeatable.",
)  # fmt: skip
@click.option("--over", "window", type=duration, default="0s", help="Spread over that time, as 2h.")
@click.option("--suffix", default="", help="What to add to their keys, where those have upcoming jobs.")
@finished_filters
def reprocess(
    older_than: str | None, other_than: str | None, states: tuple[str, ...], window: timedelta, suffix: str,
    **asked: Any,
) -> int:  # fmt: skip
    """Run finished jobs again, as new ones, at most 1000 at a time.

    With a version, say it again to go on: what was reprocessed for it is not reprocessed for it again. Without one,
    saying it again runs the same jobs again.

    \b
    Examples:
      minutehand reprocess --kind report --older-than 1.10 --over 2h --dry-run
      minutehand reprocess --queue mail --since 2026-03-01T08:00+01:00 --state dead --yes
    """
    which = {"older_than": older_than, "other_than": other_than, "states": list(states)}
    return _run("reprocessed", asked, which, {"window": window, "suffix": suffix}, work.reprocess)


def _run(
    done: str, asked: dict[str, Any], which: dict[str, Any], how: dict[str, Any], act: Callable[..., Any]
) -> int:
    tz, form, yes, dry_run = (asked.pop(name) for name in ("tz", "form", "yes", "dry_run"))
    for name in ("since", "before"):
        asked[name] = None if asked[name] is None else option_moment(asked[name], tz, f"--{name}")
    with open_database() as database:
        ids = work.finished(database, **asked, **which, mark=work.mark_of(**_versions(which)))
        if dry_run or not ids:
            return _preview(ids, done, form)
        if not confirmed(f"{text.jobs(len(ids))} will be {done}.", yes=yes):
            return 1
        said = which if "older_than" in which else {}
        return _act(
            database, Tally(Verb(done, (), lambda _database, _ids: []), form), act, asked | said | how
        )


def _versions(which: dict[str, Any]) -> dict[str, Any]:
    return {name: which.get(name) for name in ("older_than", "other_than")}


def _act(database: Database, tally: Tally, act: Callable[..., Any], said: dict[str, Any]) -> int:
    for each in act(database, **said, who=who()):
        tally.tell(each)
    return tally.conclude()


def _preview(ids: list[Any], done: str, form: str) -> int:
    for job_id in ids:
        click.echo(str(job_id) if form == "ids" else f"{job_id} would be {done}")
    say(f"{text.jobs(len(ids))} would be {done}; nothing was changed" if ids else "No finished job matches.")
    return 0
