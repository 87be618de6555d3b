"""Isolation: run work on a batch, and if an item makes it fail, on smaller batches, so that no item stops another."""

from collections.abc import Callable, Sequence
from typing import TypeVar

from minutehand.database import Database
from minutehand.errors import ConflictError, ForbiddenError, ReadOnlyError, SchemaError, UnreachableError

# Errors of the database as a whole, which no item has caused.
NOT_OF_AN_ITEM = (UnreachableError, ReadOnlyError, ForbiddenError, ConflictError, SchemaError)

Item = TypeVar("Item")
Result = TypeVar("Result")


def run_isolated(
    database: Database, items: Sequence[Item], work: Callable[[Sequence[Item]], Sequence[Result]]
) -> tuple[list[Result], list[tuple[Item, Exception]]]:
    """Return the results of work on items, and the items for which it fails, with their errors.

    Each attempt is a savepoint. A batch that fails is halved, so that a few bad items among many cost little.
    """
    if not items:
        return [], []
    try:
        with database.transaction():
            return list(work(items)), []
    except NOT_OF_AN_ITEM:
        raise
    # Any other error: a stored value may cause one that nobody expected.
    except Exception as error:
        if len(items) == 1:
            return [], [(items[0], error)]
    middle = len(items) // 2
    results, failed = run_isolated(database, items[:middle], work)
    more_results, more_failed = run_isolated(database, items[middle:], work)
    return results + more_results, failed + more_failed
