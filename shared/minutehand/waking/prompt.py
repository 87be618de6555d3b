"""Prompt: after the commit, offer the enqueued jobs that are due, and invoke their workers.

A job of a queue in which others wait joins the line, and the dispatcher is invoked instead; so it is for jobs that
become due before the next tick. A lost invocation costs at most the time until the next tick, never a job.
"""

import logging
import os
from collections.abc import Iterable
from datetime import UTC, datetime, timedelta
from functools import cache
from uuid import UUID

from minutehand.database import Database, Executor, executed
from minutehand.events import emit
from minutehand.events.publish import publish
from minutehand.model.enqueued import Enqueued
from minutehand.model.failure import message_of
from minutehand.model.offer import Offer
from minutehand.settings import database_url, names_database
from minutehand.waking.chain import Chain
from minutehand.waking.invoking import Target, target
from minutehand.waking.mode import Wake

# With more jobs at once, the dispatcher offers them.
MOST_OFFERED = 32
# A job that is due later starts at a tick. Longer than a minute, because the clock of this machine may be late.
SOON = timedelta(seconds=120)
# This machine's clock may be early.
ABOUT_NOW = timedelta(seconds=5)

logger = logging.getLogger(__name__)


class PromptWake(Wake):
    """The jobs of a transaction that are due now or soon."""

    def __init__(self) -> None:
        """Begin without jobs."""
        self._ids: list[UUID] = []
        self._next: datetime | None = None
        self._others = False

    def add(self, jobs: Iterable[Enqueued]) -> bool:
        """Add jobs; return whether any is due before the next tick, as far as this machine's clock can tell."""
        about_now, added = datetime.now(UTC) + ABOUT_NOW, list(jobs)
        ids = [job.id for job in added if job.visible <= about_now]
        self._others = self._others or len(self._ids) + len(ids) > MOST_OFFERED
        self._ids += ids[: MOST_OFFERED - len(self._ids)]
        return self.add_times(job.visible for job in added if job.visible > about_now) or bool(ids)

    def add_times(self, times: Iterable[datetime]) -> bool:
        """Add times at which jobs become due; return whether any comes before the next tick."""
        soon = datetime.now(UTC) + SOON
        known = [time for time in (*times, self._next) if time is not None and time <= soon]
        self._next = min(known, default=None)
        return bool(known)

    def add_unknown(self) -> None:
        """Add jobs of which nothing is known, except that some may be due."""
        self._others = True

    async def before_commit(self, executor: Executor) -> None:
        """Do nothing: no worker would find the jobs."""

    async def after_commit(self, executor: Executor) -> None:
        """Offer the jobs and invoke their workers, or the dispatcher. Failures are logged."""
        try:
            await self._after_commit(executor)
        # Any error: the jobs are committed, and a tick finds them.
        except Exception as error:
            logger.warning("jobs wait for the next tick: %s: %s", type(error).__name__, message_of(error))

    async def _after_commit(self, executor: Executor) -> None:
        chain, to = Chain.current(), target()
        if to is None or chain.is_long:
            return
        if executor.autocommit and not executor.in_transaction:
            await self._wake(executor, to, chain)
        elif names_database():
            # On a connection of this process: that of the caller is in use.
            await executor.block(lambda: self._wake_on(_database(os.getpid()), to, chain))
        else:
            await executor.block(lambda: to.invoke_dispatcher(chain))

    def _wake_on(self, database: Database, to: Target, chain: Chain) -> None:
        executed(database, lambda executor: self._wake(executor, to, chain))

    async def _wake(self, executor: Executor, to: Target, chain: Chain) -> None:
        ids = [] if self._others else self._ids
        records = await executor.run("offer_now", ids=ids, next=self._next, others=self._others)
        wanted = any(record.pop("wake") for record in records)
        offers = [Offer(**record) for record in records if record["id"]]
        sent = await executor.block(lambda: to.invoke_workers(offers, chain))
        refused = [offer for refusal in sent.refused for offer in refusal.invitation.offers]
        if refused:
            await executor.run(
                "withdraw_now", ids=[offer.id for offer in refused], acks=[offer.ack for offer in refused]
            )
        if wanted:
            await executor.block(lambda: to.invoke_dispatcher(chain))
        await publish(executor, (emit.offered(offer) for offer in offers if offer not in refused))


@cache
def _database(_process: int) -> Database:
    return Database(database_url)
