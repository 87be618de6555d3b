"""Job ids from arguments and from stdin, in full or their first digits."""

import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import chain
from uuid import UUID

import click

from minutehand.cli.values import ShortId, Stdin, job_id
from minutehand.database import Database
from minutehand.errors import InvalidJobError, NotFoundError
from minutehand.queries.ids import find_batch, find_id

Report = Callable[[str], None]
GivenId = UUID | ShortId


def full_job_id(database: Database, given: GivenId) -> UUID:
    """Return a job id in full; raise an error if its first digits were given, and are not those of one job."""
    return find_id(database, given.digits) if isinstance(given, ShortId) else given


def full_batch_id(database: Database, given: GivenId) -> UUID:
    """Return the id of a batch in full, as `full_job_id`."""
    return find_batch(database, given.digits) if isinstance(given, ShortId) else given


def named_ids(database: Database, arguments: Sequence[GivenId | Stdin], report: Report) -> Iterable[UUID]:
    """Return the ids in arguments, and those on stdin for `-`.

    A line that is not the id of one job is reported and skipped. An argument that is not raises an error.
    """
    given = [full_job_id(database, each) for each in arguments if not isinstance(each, Stdin)]
    if Stdin.STDIN in arguments:
        return chain(given, read_ids(database, report))
    return given


def read_ids(database: Database, report: Report) -> Iterator[UUID]:
    """Yield the ids on stdin, one per line."""
    if sys.stdin is None:
        raise click.UsageError("stdin is closed; expected job ids from it")
    for number, line in enumerate(sys.stdin.buffer, 1):
        word = line.decode("utf-8", "replace").strip()
        try:
            if word:
                yield full_job_id(database, job_id(word))
        except click.BadParameter:
            report(f"line {number}: {word[:80]!r} is not a valid job id")
        except (InvalidJobError, NotFoundError) as error:
            report(f"line {number}: {error}")
