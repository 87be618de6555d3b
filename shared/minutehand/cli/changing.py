"""How a verb that changes jobs goes about it: choose, ask, change in chunks, tell of each."""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import TypeVar
from uuid import UUID

import click

from minutehand.cli import text
from minutehand.cli.confirm import confirmed
from minutehand.cli.ids import matching_ids, named_ids
from minutehand.cli.options import open_database
from minutehand.cli.output import put_json, say
from minutehand.cli.values import Stdin
from minutehand.database import Database
from minutehand.errors import NotFoundError
from minutehand.operations.jobs import Change
from minutehand.queries.jobs import clock, get

UPCOMING = ("scheduled", "due", "offered", "retrying")
AT_ONCE = 1000

Item = TypeVar("Item")


@dataclass(frozen=True)
class Verb:
    """What is done: its past participle, the states it is possible in, and the library's function."""

    done: str
    possible: tuple[str, ...]
    act: Callable[[Database, Sequence[UUID]], list[Change]]


@dataclass(frozen=True, kw_only=True)
class Asked:
    """What the command line says."""

    ids: tuple[UUID | Stdin, ...]
    queue: str | None
    kind: str | None
    key: str | None
    states: tuple[str, ...]
    dry_run: bool
    yes: bool
    form: str

    @property
    def filtered(self) -> bool:
        """Whether jobs are chosen by filters."""
        return bool(self.states) or any(each is not None for each in (self.queue, self.kind, self.key))


class Tally(Counter[str]):
    """Outcomes, each told as it comes, and counted."""

    def __init__(self, verb: Verb, form: str) -> None:
        """Tell in the verb's words and this form."""
        super().__init__()
        self.verb, self.form = verb, form

    def tell(self, change: Change) -> None:
        """Tell what became of a job."""
        changed = change.outcome in ("changed", "asked")
        self[change.outcome] += 1
        if self.form == "json":
            outcome = self.verb.done if change.outcome == "changed" else change.outcome
            told = {"id": change.id, "outcome": outcome, "state": change.state, "why": change.why or None}
            put_json(told | ({"new": change.new} if change.new else {}))
        elif self.form == "ids" and changed:
            click.echo(str(change.new or change.id))
        else:
            click.echo(f"{change.id} {self._words(change)}", err=self.form == "ids")

    def _words(self, change: Change) -> str:
        if change.outcome == "asked":
            return f"asked: {change.why}"
        became = f"{self.verb.done}{f': {change.new}' if change.new else ''}"
        return became if change.outcome == "changed" else f"refused: {change.why}"

    def fault(self, sentence: str) -> None:
        """Tell of a line that names no job."""
        self["refused"] += 1
        say(sentence)

    def conclude(self) -> int:
        """Say the counts, and return the exit code."""
        refused = self["refused"] + self["absent"]
        if not self.total():
            say(f"No job was named; nothing was {self.verb.done}.")
        elif self.total() > 1:
            asked = f", {self['asked']} asked" if self["asked"] else ""
            say(f"{self['changed']} {self.verb.done}{asked}, {refused} refused")
        return 1 if refused else 0


def change(verb: Verb, asked: Asked) -> int:
    """Do what was asked to the jobs that were chosen; return the exit code, which is 1 if any was refused."""
    tally = Tally(verb, asked.form)
    if asked.filtered and asked.ids:
        raise click.UsageError("name ids or say filters, not both")
    named = None if asked.filtered else named_ids(asked.ids, tally.fault)
    if named is None and not asked.filtered:
        raise click.UsageError("name ids, pipe them in, or choose by --queue, --kind, --key or --state")
    with open_database() as database:
        ids = _matching(database, verb, asked) if named is None else named
        if asked.dry_run:
            return _preview(database, verb, ids, tally, asked.form)
        if isinstance(ids, list) and named is None and not _agreed(verb, len(ids), asked.yes):
            return 1
        for chunk in chunks(ids, AT_ONCE):
            for each in verb.act(database, chunk):
                tally.tell(each)
    return tally.conclude()


def chunks(items: Iterable[Item], size: int) -> Iterator[list[Item]]:
    """Yield items in lists of some size."""
    rest = iter(items)
    while chunk := list(islice(rest, size)):
        yield chunk


def _matching(database: Database, verb: Verb, asked: Asked) -> list[UUID]:
    return matching_ids(database, asked.queue, asked.kind, asked.key, asked.states or verb.possible)


def _agreed(verb: Verb, count: int, yes: bool) -> bool:
    return count <= 1 or confirmed(f"{text.jobs(count)} will be {verb.done}.", yes=yes)


def _preview(database: Database, verb: Verb, ids: Iterable[UUID], tally: Tally, form: str) -> int:
    now = clock(database)
    for job_id in dict.fromkeys(ids):
        try:
            row = get(database, job_id)
        except NotFoundError:
            tally.tell(Change(job_id, "absent", None, "there is no such job"))
            continue
        if row.state not in verb.possible:
            tally.tell(Change(job_id, "refused", row.state, f"it is {row.state}"))
            continue
        tally["changed"] += 1
        if form == "json":
            put_json({"id": job_id, "outcome": f"would be {verb.done}", "state": row.state, "why": None})
        else:
            click.echo(
                str(job_id)
                if form == "ids"
                else f"{job_id} would be {verb.done}: {row.kind}, {text.state(row, now)}"
            )
    say(f"{text.jobs(tally['changed'])} would be {verb.done}; nothing was changed")
    return 1 if tally["refused"] + tally["absent"] else 0
