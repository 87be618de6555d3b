"""Due jobs that a pause stops, apart from those that are late."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime

from minutehand.database import Executor, sync_or_async
from minutehand.errors import ForbiddenError


@dataclass(frozen=True)
class Paused:
    """The number of due jobs that a pause stops, and when the oldest of the other due jobs became due."""

    paused: int
    since: datetime | None


@sync_or_async
async def paused_due(
    executor: Executor, *, queue: str | None = None, kind: str | None = None, by_kind: bool = False
) -> Mapping[tuple[str, str | None], Paused]:
    """Count the due jobs that a pause stops, by queue and kind. Empty without pauses, or if the role may not see them.

    It reads all due jobs if anything is paused.
    """
    try:
        # A savepoint, if the caller has a transaction: an error would abort it.
        async with executor.transaction():
            records = await executor.run("paused_due", queue=queue, kind=kind, by_kind=by_kind)
    except ForbiddenError:
        return {}
    return {(each["queue"], each["kind"]): Paused(each["paused"], each["since"]) for each in records}
