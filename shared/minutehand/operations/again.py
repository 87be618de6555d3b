"""Reprocess: the dead come back at a chosen rate, and finished jobs of older code are run again by the new one."""

from collections.abc import Iterator, Sequence
from datetime import datetime, timedelta
from uuid import UUID

from minutehand.database import Database
from minutehand.errors import InvalidJobError
from minutehand.model.new_job import check_moment
from minutehand.operations import jobs as operate
from minutehand.operations.jobs import Change
from minutehand.queries.jobs import FINISHED, check_states

AT_ONCE = 1000
MOST = 1000
MINUTE = timedelta(minutes=1)


def redrive(
    database: Database, per_minute: float, *, queue: str | None = None, kind: str | None = None,
    since: datetime | None = None, before: datetime | None = None, most: int = MOST, who: str | None = None,
) -> Iterator[Change]:  # fmt: skip
    """Bring dead jobs back, so many a minute, those that died last first; yield what became of each.

    `since` and `before` say when they died. They keep their ids and get all their attempts again; whose key has an
    upcoming job stays dead. At most `most` come back; go on with another call.
    """
    if not 0.001 <= per_minute <= 1_000_000:
        raise InvalidJobError("rate_is_positive", "per_minute is 0.001 to 1000000")
    ids = finished(database, queue=queue, kind=kind, states=["dead"], since=since, before=before, most=most)
    step = MINUTE / per_minute
    for place in range(0, len(ids), AT_ONCE):
        yield from operate.retry(
            database, ids[place : place + AT_ONCE], start=place * step, step=step, who=who
        )


def reprocess(
    database: Database, *, older_than: str | None = None, other_than: str | None = None, queue: str | None = None,
    kind: str | None = None, states: Sequence[str] = ("done",), since: datetime | None = None,
    before: datetime | None = None, window: timedelta = timedelta(), suffix: str = "", most: int = MOST,
    who: str | None = None,
) -> Iterator[Change]:  # fmt: skip
    """Replay finished jobs that match, as clones with all their attempts, spread over a window; tell of each.

    `older_than` and `other_than` compare with the version of the code that finished a job: an older one by its
    numbers (1.9 is older than 1.10), any other one by its text. What was reprocessed for a version is not
    reprocessed for it again, so that a call goes on where the one before came to its `most`. Of several jobs with
    one key the latest is run; whose key has an upcoming job needs a `suffix` to its key, or is refused.
    """
    ids = finished(
        database, queue=queue, kind=kind, states=states, since=since, before=before, most=most,
        older_than=older_than, other_than=other_than, mark=mark_of(older_than, other_than),
    )  # fmt: skip
    for place in range(0, len(ids), AT_ONCE):
        yield from operate.replay(
            database, ids[place : place + AT_ONCE], max_attempts=None, window=window, suffix=suffix, who=who,
            verb="reprocess", mark=mark_of(older_than, other_than),
        )  # fmt: skip


def mark_of(older_than: str | None, other_than: str | None) -> str | None:
    """Return what the audit trail calls a reprocessing, by which another one knows what was done already."""
    said = (("older than", older_than), ("other than", other_than))
    return ", ".join(f"{name} {version}" for name, version in said if version) or None


def finished(
    database: Database, *, queue: str | None = None, kind: str | None = None, states: Sequence[str] = ("done",),
    since: datetime | None = None, before: datetime | None = None, older_than: str | None = None,
    other_than: str | None = None, mark: str | None = None, most: int = MOST,
) -> list[UUID]:  # fmt: skip
    """Return the ids of finished jobs that match, the latest first: what redrive and reprocess would take."""
    known = check_states(states, sorted(FINISHED)) or sorted(FINISHED)
    records = database.run(
        "finished", queue=queue, kind=kind, states=known, since=check_moment(since), before=check_moment(before),
        older_than=older_than, other_than=other_than, mark=mark_of(older_than, other_than), most=most,
    )  # fmt: skip
    return [record["id"] for record in records]
