"""Successors: wake for the jobs that the ends of others have made due."""

import logging
from collections.abc import Iterable

from minutehand.database import Database, executed
from minutehand.model.failure import message_of
from minutehand.model.outcome import Finish

logger = logging.getLogger(__name__)


def wake_successors(database: Database, finishes: Iterable[Finish]) -> None:
    """In the modes that need it, wake for the successors of jobs that have ended. Failures are logged."""
    if True not in [each.awaited for each in finishes]:
        return
    # Imported only when used, for the sake of cold starts.
    from minutehand.waking import wake_ended

    try:
        executed(database, lambda executor: wake_ended(executor, [{"awaited": True}]))
    # Any error: the jobs have ended, and a tick finds their successors.
    except Exception as error:
        logger.warning("successors wait for the next tick: %s: %s", type(error).__name__, message_of(error))
