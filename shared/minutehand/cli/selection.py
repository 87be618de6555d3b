"""The jobs that a command changes: by ids, or by filters."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeVar
from uuid import UUID

import click

from minutehand.cli.ids import GivenId
from minutehand.cli.listing import pages
from minutehand.cli.once import filter_option
from minutehand.cli.options import (
    connection_options,
    filter_options,
    output_option,
    tenant_option,
    tz_option,
)
from minutehand.cli.times import optional_time
from minutehand.cli.values import Stdin, job_id_or_stdin
from minutehand.database import Database
from minutehand.model.row import STATES
from minutehand.operations.again import find_finished

Decorated = TypeVar("Decorated", bound=Callable[..., Any])


@dataclass(frozen=True, kw_only=True)
class Selection:
    """The selecting options of a command line. `finished` has those for finished jobs only, as given."""

    ids: tuple[GivenId | Stdin, ...]
    queue: str | None
    kind: str | None
    key: str | None
    group: str | None
    states: tuple[str, ...]
    dry_run: bool
    yes: bool
    form: str
    tz: str | None = None
    finished: Mapping[str, Any] = field(default_factory=dict)

    @property
    def filtered(self) -> bool:
        """Whether jobs are selected by filters."""
        return bool(self.states or self.finished) or any(
            each is not None for each in (self.queue, self.kind, self.key, self.group)
        )


def selection_options(command: Decorated) -> Decorated:
    """Add the ids and filters that select jobs, and `--dry-run` and `--yes`."""
    for option in (
        connection_options,
        tenant_option,
        output_option("table", "json", "ids"),
        click.option("--yes", is_flag=True, help="Do not ask for confirmation."),
        click.option("--dry-run", is_flag=True, help="Show which jobs would change, and change nothing."),
        filter_options(STATES),
        click.argument("ids", nargs=-1, type=job_id_or_stdin),
    ):
        command = option(command)
    return command


def finished_options(command: Decorated) -> Decorated:
    """Add the filters that select finished jobs."""
    for option in (
        tz_option,
        click.option("--limit", type=click.IntRange(1), help="At most this many jobs, the latest first."),
        filter_option("--finished-until", metavar="WHEN", help="Only jobs that finished before then."),
        filter_option(
            "--finished-since",
            metavar="WHEN",
            help="Only jobs that finished since then: how long ago, such as 7d, or a time.",
        ),
    ):
        command = option(command)
    return command


def find_by_filters(database: Database, selection: Selection, states: tuple[str, ...]) -> list[UUID]:
    """Return the ids of all jobs that match: exactly those that are counted and confirmed are changed."""
    found = pages(
        database,
        queue=selection.queue,
        kind=selection.kind,
        key=selection.key,
        group=selection.group,
        states=selection.states or states,
    )
    return [row.id for page in found for row in page.rows]


def find_finished_by_filters(database: Database, selection: Selection, states: tuple[str, ...]) -> list[UUID]:
    """Return the ids of the finished jobs that match, the latest first."""
    given = dict(selection.finished)
    window: dict[str, Any] = {
        name: optional_time(
            database, given.pop(f"finished_{option}", None), selection.tz, f"--finished-{option}"
        )
        for name, option in (("since", "since"), ("before", "until"))
    }
    return find_finished(
        database,
        queue=selection.queue,
        kind=selection.kind,
        key=selection.key,
        group=selection.group,
        states=selection.states or states,
        limit=given.pop("limit", None),
        **window,
        **given,
    )
