"""Which jobs a verb is about: ids as arguments, ids on stdin, or all that match a filter."""

import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import chain
from uuid import UUID

import click

from minutehand.cli.ls import pages
from minutehand.cli.values import Stdin
from minutehand.database import Database

Fault = Callable[[str], None]


def named_ids(arguments: Sequence[UUID | Stdin], fault: Fault) -> Iterable[UUID] | None:
    """Return the ids that were named, from stdin where that is among them; None if there are none.

    With no arguments at all, what is piped in counts. A line that is no id is told to `fault`, and the others go on.
    """
    piped = sys.stdin is not None and not sys.stdin.isatty()
    if not arguments and not piped:
        return None
    if not arguments or Stdin.STDIN in arguments:
        return chain(_ids(arguments), read_ids(fault))
    return _ids(arguments)


def _ids(arguments: Sequence[UUID | Stdin]) -> list[UUID]:
    return [each for each in arguments if isinstance(each, UUID)]


def read_ids(fault: Fault) -> Iterator[UUID]:
    """Yield the ids that stand on stdin, one a line."""
    if sys.stdin is None:
        raise click.UsageError("stdin is closed, and the ids were to come from there")
    for number, line in enumerate(sys.stdin.buffer, 1):
        word = line.decode("utf-8", "replace").strip()
        try:
            if word:
                yield UUID(word)
        except ValueError:
            fault(f"line {number}: {word[:80]!r} is no job's id")


def matching_ids(
    database: Database, queue: str | None, kind: str | None, key: str | None, states: tuple[str, ...]
) -> list[UUID]:
    """Return the ids of all jobs that match: what is counted and confirmed is exactly what is changed."""
    return [row.id for page in pages(database, queue, kind, key, states) for row in page.rows]
