"""`minutehand replay`: run finished jobs again as new jobs."""

from datetime import timedelta
from functools import partial
from typing import Any

import click

from minutehand.cli.actor import actor
from minutehand.cli.change_jobs import Action, change_jobs
from minutehand.cli.once import filter_option
from minutehand.cli.selection import (
    Selection,
    find_finished_by_filters,
    finished_options,
    selection_options,
)
from minutehand.cli.values import duration
from minutehand.operations import jobs
from minutehand.operations.again import mark_of

FINISHED = ("done", "dead", "expired", "cancelled")


def _attempts(value: str) -> int | None:
    """Return a number of attempts, or None for `same`."""
    if value == "same":
        return None
    try:
        return int(value)
    except ValueError:
        raise click.BadParameter(
            f"must be an integer or `same`, got {value!r}", param_hint="--max-attempts"
        ) from None


@click.command()
@filter_option(
    "--older-than", metavar="VERSION", help="Only jobs finished by code with a lower version number."
)
@filter_option("--other-than", metavar="VERSION", help="Only jobs finished by any other version of the code.")
@click.option(
    "--max-attempts",
    metavar="N|same",
    default="1",
    show_default=True,
    help="Number of attempts; `same` is that of the original.",
)
@click.option(
    "--over", "window", type=duration, default="0s", help="Spread the jobs over this time, such as 2h."
)
@click.option("--suffix", default="", help="Append this to the key, if the key has an upcoming job.")
@finished_options
@selection_options
def replay(max_attempts: str, window: timedelta, suffix: str, **options: Any) -> int:
    """Run finished jobs again as new jobs: due now, with one attempt, and without recurrence.

    Give IDS, pipe them in (`-`), or use filters. Without --state, all finished jobs are selected; with --older-than or
    --other-than, done jobs. The originals stay in the history. To continue after --limit with a version,
    repeat the command: jobs that were already replayed for that version are skipped.

    \b
    Examples:
      minutehand replay 019c2f6e-8f0a-7c3d-9a51-3f6f0f4f2a10
      minutehand replay --kind report --state done --dry-run
      minutehand replay --kind report --older-than 1.10 --over 2h --limit 1000
    """
    names = ("older_than", "other_than", "finished_since", "finished_until", "limit")
    given = {name: options.pop(name) for name in names}
    mark = mark_of(given["older_than"], given["other_than"])
    act = partial(
        jobs.replay,
        max_attempts=_attempts(max_attempts),
        window=window,
        suffix=suffix,
        actor=actor(),
        mark=mark,
    )
    action = Action("replayed", FINISHED, act, find_finished_by_filters, ("done",) if mark else FINISHED)
    finished = {name: value for name, value in given.items() if value is not None}
    return change_jobs(action, Selection(**options, finished=finished))
