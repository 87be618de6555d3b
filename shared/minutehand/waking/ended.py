"""Ended: what the worker of the mode `prompt` does about the jobs that the ends of others have created or moved."""

import logging
from collections.abc import Sequence

from minutehand.database import Database, Executor, executed
from minutehand.model.enqueued import Enqueued
from minutehand.model.failure import message_of
from minutehand.model.outcome import Finish
from minutehand.waking import wake_ended
from minutehand.waking.prompt import PromptWake

logger = logging.getLogger(__name__)


def wake_for(database: Database, endings: Sequence[Finish]) -> None:
    """Offer jobs of `on_dead` and callbacks of batches; let the dispatcher wait for retries and next occurrences.

    Runs no statement for jobs that have none of these. Failures are logged: a tick finds the jobs.
    """
    wake = PromptWake()
    created = [
        Enqueued(each.on_dead, "created", each.at) for each in endings if each.on_dead is not None and each.at
    ]
    times = [time for each in endings for time in (each.visible, each.next_at) if time is not None]
    due, soon = wake.add(created), wake.add_times(times)
    if due or soon:
        executed(database, wake.after_commit)
    if batches := {each.batch for each in endings if each.batch is not None}:
        _wake_callbacks(database, [{"batch": batch} for batch in batches])


def _wake_callbacks(database: Database, ended: Sequence[dict[str, object]]) -> None:
    async def wake(executor: Executor) -> None:
        await wake_ended(executor, ended)

    try:
        executed(database, wake)
    # Any error: the jobs have ended, and a tick finds the callbacks.
    except Exception as error:
        logger.warning("callbacks wait for the next tick: %s: %s", type(error).__name__, message_of(error))
