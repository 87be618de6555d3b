"""Job ids from arguments and from stdin."""

import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import chain
from uuid import UUID

import click

from minutehand.cli.values import Stdin

Report = Callable[[str], None]


def named_ids(arguments: Sequence[UUID | Stdin], report: Report) -> Iterable[UUID] | None:
    """Return the ids in arguments, and those on stdin for `-` or if there are no arguments; None without any.

    A line that is not an id is reported and skipped.
    """
    piped = sys.stdin is not None and not sys.stdin.isatty()
    if not arguments and not piped:
        return None
    if not arguments or Stdin.STDIN in arguments:
        return chain(_ids(arguments), read_ids(report))
    return _ids(arguments)


def _ids(arguments: Sequence[UUID | Stdin]) -> list[UUID]:
    return [each for each in arguments if isinstance(each, UUID)]


def read_ids(report: Report) -> Iterator[UUID]:
    """Yield the ids on stdin, one per line."""
    if sys.stdin is None:
        raise click.UsageError("stdin is closed; expected job ids from it")
    for number, line in enumerate(sys.stdin.buffer, 1):
        word = line.decode("utf-8", "replace").strip()
        try:
            if word:
                yield UUID(word)
        except ValueError:
            report(f"line {number}: {word[:80]!r} is not a valid job id")
