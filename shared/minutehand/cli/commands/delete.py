"""`minutehand delete`: delete jobs by id or filters, all upcoming jobs of a queue, or finished jobs."""

from collections.abc import Iterator
from functools import partial
from typing import Any

import click

from minutehand.cli import text
from minutehand.cli.actor import actor
from minutehand.cli.change_jobs import UPCOMING, Action, change_jobs
from minutehand.cli.confirm import confirmed
from minutehand.cli.once import filter_option
from minutehand.cli.options import open_database, tz_option
from minutehand.cli.output import print_message, put_json
from minutehand.cli.progress import progress
from minutehand.cli.selection import Selection, selection_options
from minutehand.cli.times import time_of
from minutehand.model.row import FINISHED
from minutehand.operations import deletion

INSTEAD = dict.fromkeys(FINISHED, "; to delete finished jobs, use --finished-until")


@click.command()
@click.option("--all", "everything", is_flag=True, help="Delete all upcoming jobs of --queue in bulk.")
@filter_option(
    "--finished-until",
    metavar="WHEN",
    help="Delete the jobs that finished before then: how long ago, such as 30d, or a time.",
)
@tz_option
@selection_options
def delete(everything: bool, finished_until: str | None, tz: str | None, **options: Any) -> int:
    """Delete upcoming jobs or, with --finished-until, finished jobs. A deleted job cannot be restored.

    Give IDS, pipe them in (`-`), or use filters. Running jobs are never deleted. To keep jobs in the history, cancel
    them; to stop a queue, pause it.

    \b
    Examples:
      minutehand delete 019c2f6e-8f0a-7c3d-9a51-3f6f0f4f2a10
      minutehand delete --key report/4711 --dry-run
      minutehand delete --queue mail --all
      minutehand delete --finished-until 30d --state done --yes
    """
    selection = Selection(**options)
    if everything and finished_until is not None:
        raise click.UsageError("expected --all or --finished-until, got both")
    if everything:
        return _delete_upcoming(selection)
    if finished_until is not None:
        return _delete_finished(selection, finished_until, tz)
    act = partial(deletion.delete, actor=actor())
    return change_jobs(Action("deleted", UPCOMING, act, instead=INSTEAD), selection)


def _delete_upcoming(selection: Selection) -> int:
    others = selection.ids, selection.kind, selection.key, selection.group, selection.states
    if selection.queue is None or any(others):
        raise click.UsageError("--all requires --queue, and must not be combined with ids or other filters")
    with open_database() as database:
        count = deletion.count_upcoming(database, selection.queue)
        delete = partial(deletion.delete_upcoming, database, selection.queue, actor=actor())
        return _delete_counted(selection, count, "upcoming", delete)


def _delete_finished(selection: Selection, finished_until: str, tz: str | None) -> int:
    if selection.ids or selection.key or selection.group:
        raise click.UsageError(
            "--finished-until must not be combined with ids, --key or --group; use --queue, --kind or --state"
        )
    if unfinished := sorted({*selection.states} - FINISHED):
        raise click.UsageError(f"--state must be a finished state with --finished-until, got {unfinished[0]}")
    filters: dict[str, Any] = {"queue": selection.queue, "kind": selection.kind, "states": selection.states}
    with open_database() as database:
        moment = time_of(database, finished_until, tz, "--finished-until")
        count = deletion.count_finished(database, moment, **filters)
        delete = partial(deletion.delete_finished, database, moment, actor=actor(), **filters)
        return _delete_counted(selection, count, "finished", delete)


def _delete_counted(selection: Selection, count: int, what: str, delete: partial[Iterator[int]]) -> int:
    """Confirm and delete in chunks, and print the number of deleted jobs; print only the count for a dry run."""
    if selection.dry_run or not count:
        return _conclude(selection, count, "would be deleted")
    if not confirmed(f"{text.jobs(count)} ({what}) will be deleted.", yes=selection.yes):
        return 1
    deleted = 0
    with progress("deleting", count) as advance:
        for chunk in delete():
            deleted += chunk
            advance(chunk)
    return _conclude(selection, deleted, "deleted")


def _conclude(selection: Selection, count: int, outcome: str) -> int:
    if selection.form == "json":
        put_json({"outcome": outcome, "jobs": count})
    else:
        print_message(f"{text.jobs(count)} {outcome}" if count else "No job matches.")
    return 0
