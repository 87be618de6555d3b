"""Run a change: select jobs, confirm, change them in chunks, and report the outcome of each."""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from itertools import islice
from typing import TypeVar
from uuid import UUID

import click

from minutehand.cli import text
from minutehand.cli.confirm import confirmed
from minutehand.cli.ids import named_ids
from minutehand.cli.options import open_database
from minutehand.cli.output import print_message, put_json
from minutehand.cli.selection import Selection, find_by_filters
from minutehand.database import Database
from minutehand.model.row import Row
from minutehand.operations.change import Change
from minutehand.queries.jobs import clock, get_listed

UPCOMING = ("scheduled", "due", "offered", "retrying")
CHUNK = 1000

Item = TypeVar("Item")
Find = Callable[[Database, Selection, tuple[str, ...]], list[UUID]]


@dataclass(frozen=True)
class Action:
    """A change: its past participle, the states in which it is possible, and the function that makes it.

    `find` returns the jobs that filters select; `default` are the states without `--state`, if not all possible ones.
    `instead` says what to do with jobs in other states, and `check` raises an error if the change itself is invalid.
    `nothing` is the message if no job was given.
    """

    done: str
    possible: tuple[str, ...]
    act: Callable[[Database, Sequence[UUID]], list[Change]]
    find: Find = find_by_filters
    default: tuple[str, ...] = ()
    instead: Mapping[str, str] = field(default_factory=dict)
    check: Callable[[Database], None] | None = None
    nothing: str = ""


class Report(Counter[str]):
    """Prints the outcome of each change, and counts the outcomes."""

    def __init__(self, action: Action, form: str) -> None:
        """Print in an output format."""
        super().__init__()
        self.action, self.form = action, form

    def put(self, change: Change) -> None:
        """Print and count the outcome of a change."""
        self[change.outcome] += 1
        if self.form == "json":
            outcome = self.action.done if change.outcome == "changed" else change.outcome
            facts = {
                "id": change.id,
                "outcome": outcome,
                "state": change.state,
                "reason": change.reason or None,
            }
            put_json(facts | ({"new": change.new} if change.new else {}))
        elif self.form == "ids" and change.outcome in ("changed", "requested"):
            click.echo(str(change.new or change.id))
        else:
            click.echo(f"{change.id} {self._describe(change)}", err=self.form == "ids")

    def _describe(self, change: Change) -> str:
        if change.outcome == "changed":
            return f"{self.action.done}{f': {change.new}' if change.new else ''}"
        return f"{'requested' if change.outcome == 'requested' else 'refused'}: {change.reason}"

    def put_fault(self, fault: str) -> None:
        """Print and count a line of input that is not a job id."""
        self["refused"] += 1
        print_message(fault)

    def conclude(self) -> int:
        """Print the counts and return the exit code, which is 1 if any job was refused."""
        refused = self["refused"] + self["absent"]
        if not self.total():
            print_message(self.action.nothing or f"No jobs were given; nothing was {self.action.done}.")
        elif self.total() > 1:
            requested = f", {self['requested']} requested" if self["requested"] else ""
            print_message(f"{self['changed']} {self.action.done}{requested}, {refused} refused")
        return 1 if refused else 0


def change_jobs(action: Action, selection: Selection) -> int:
    """Change the selected jobs; return the exit code, which is 1 if any was refused."""
    report = Report(action, selection.form)
    if selection.filtered and selection.ids:
        raise click.UsageError("expected ids or filters, got both")
    if not selection.filtered and not selection.ids:
        raise click.UsageError(
            "expected ids or a filter, got neither; pass ids, pipe them in with `-`, or use "
            "--queue, --kind, --key, --group or --state"
        )
    _check_states(action, selection)
    with open_database() as database:
        if action.check is not None:
            action.check(database)
        if selection.filtered:
            found = action.find(database, selection, action.default or action.possible)
            if not found:
                print_message("No job matches.")
                return 0
            if not selection.dry_run and not _confirmed(action, len(found), selection.yes):
                return 1
        named = found if selection.filtered else named_ids(database, selection.ids, report.put_fault)
        if selection.dry_run:
            return _preview(database, action, named, report)
        for chunk in chunks(named, CHUNK):
            for change in action.act(database, chunk):
                report.put(change)
    return report.conclude()


def _check_states(action: Action, selection: Selection) -> None:
    """Refuse states that the change would refuse for every job, before anybody is asked to confirm it."""
    for state in selection.states:
        if state not in action.possible:
            *others, last = action.possible
            raise click.UsageError(
                f"--state {state}: only {', '.join(others)} and {last} jobs can be {action.done}"
                f"{action.instead.get(state, '')}"
            )


def chunks(items: Iterable[Item], size: int) -> Iterator[list[Item]]:
    """Yield items in lists of a size."""
    rest = iter(items)
    while chunk := list(islice(rest, size)):
        yield chunk


def _confirmed(action: Action, count: int, yes: bool) -> bool:
    return count <= 1 or confirmed(f"{text.jobs(count)} will be {action.done}.", yes=yes)


def _preview(database: Database, action: Action, ids: Iterable[UUID], report: Report) -> int:
    now = clock(database)
    for chunk in chunks(dict.fromkeys(ids), CHUNK):
        rows = {row.id: row for row in get_listed(database, chunk)}
        for job_id in chunk:
            _preview_one(action, job_id, rows.get(job_id), now, report)
    print_message(f"{text.jobs(report['changed'])} would be {action.done}; nothing was changed")
    return 1 if report["refused"] + report["absent"] else 0


def _preview_one(action: Action, job_id: UUID, row: Row | None, now: datetime, report: Report) -> None:
    if row is None:
        report.put(Change(job_id, "absent", None, "job not found"))
        return
    if row.state not in action.possible:
        report.put(Change(job_id, "refused", row.state, f"the job is {row.state}"))
        return
    report["changed"] += 1
    if report.form == "json":
        outcome = f"would be {action.done}"
        put_json({"id": job_id, "outcome": outcome, "state": row.state, "reason": None})
    elif report.form == "ids":
        click.echo(str(job_id))
    else:
        click.echo(f"{job_id} would be {action.done}: {row.kind}, {text.state(row, now)}")


def report_changes(done: str, changes: Iterable[Change], form: str, nothing: str) -> int:
    """Print the outcomes of changes that were selected in another way, or `nothing`; return the exit code."""
    report = Report(Action(done, (), lambda *_: [], nothing=nothing), form)
    for change in changes:
        report.put(change)
    return report.conclude()
