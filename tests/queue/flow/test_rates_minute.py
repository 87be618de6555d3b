"""Rates hold within one percent over a minute, for dispatchers and workers that look at the same times."""

from collections import Counter
from collections.abc import Iterator, Sequence
from datetime import datetime, timedelta
from random import Random
from uuid import UUID

import pytest

from minutehand import Database
from minutehand.operations.controls import limit
from tests.queue.flow.sessions import DISPATCHERS, WORKERS
from tests.queue.stage import Queue
from tests.thorough import amount

RATE, MINUTE = 100, timedelta(minutes=1)
# The time from one start to the next.
SPACING = MINUTE / RATE
GROUPS = ("a", "b")
FILL = """insert into minutehand.jobs_live (kind, "group", run_at, visible)
          select 'echo', %(group)s, now() - interval '1 hour', now() - interval '1 hour'
            from generate_series(1, 300)"""
STARTED = 'select "group" from minutehand.jobs where id = any (%(ids)s)'


class Minute:
    """Two groups with the same rate, and sessions that look for their jobs."""

    def __init__(self, queue: Queue, burst: int, dispatchers: int, workers: int) -> None:
        self._queue = queue
        limit(queue.database, 1000, per="group", rate=RATE, period=MINUTE, burst=burst)
        for group in GROUPS:
            queue.sql(FILL, group=group)
        (row,) = queue.sql("select clock_timestamp() as now")
        self.begins: datetime = row["now"]
        self._dispatchers = [queue.another() for _ in range(dispatchers)]
        self._workers = [queue.another() for _ in range(workers)]
        self.starts: Counter[str] = Counter()

    def look(self, moment: datetime) -> None:
        """Let all sessions offer and take at one time."""
        calls = [self._queue.start(self._take, session, moment) for session in self._workers]
        calls += [self._queue.start(self._offer, session, moment) for session in self._dispatchers]
        ids = [job for call in calls for job in call.result()]
        self.starts.update(row["group"] for row in self._queue.sql(STARTED, ids=ids))

    def _offer(self, session: Database, moment: datetime) -> list[UUID]:
        return [offer.id for offer in self._queue.offer(1000, session, moment)]

    def _take(self, session: Database, moment: datetime) -> list[UUID]:
        return [job.id for job in self._queue.take(5, database=session, now=moment)]


def allowed(moments: Sequence[datetime], burst: int) -> int:
    """Return how many jobs of a group may start at these times, by the definition of GCRA."""
    due, count = moments[0], 0
    for moment in moments:
        while max(due, moment) - moment <= (burst - 1) * SPACING:
            due, count = max(due, moment) + SPACING, count + 1
    return count


def times_when_a_job_may_start(begins: datetime, random: Random) -> Iterator[datetime]:
    """Yield when the next job may start, with delays of up to a hundredth of the time between two jobs."""
    moment = begins
    while moment < begins + MINUTE:
        yield moment
        moment += SPACING * (1 + random.random() / 100)


def start_at_random_times(queue: Queue, burst: int) -> tuple[Counter[str], int]:
    """Return how many jobs of each group start, and how many may start."""
    minute = Minute(queue, burst, amount(4, DISPATCHERS), amount(2, WORKERS))
    random, times = Random(burst), amount(25, 120)
    moments = [minute.begins + MINUTE * (number + random.random()) / times for number in range(times)]
    for moment in moments:
        minute.look(moment)
    return minute.starts, allowed(moments, burst)


@pytest.mark.thorough
@pytest.mark.fault("functions/limits", r"count\(\*\) \* extract", "0.98 * count(*) * extract")
@pytest.mark.fault("functions/limits", r"count\(\*\) \* extract", "1.02 * count(*) * extract")
def test_rate_with_a_burst_is_kept_and_reached_within_one_percent(queue: Queue) -> None:
    starts, may_start = start_at_random_times(queue, burst=10)

    assert starts == pytest.approx(dict.fromkeys(GROUPS, may_start), rel=0.01)
    assert all(0.99 * RATE <= count <= 1.01 * RATE + 10 for count in starts.values())


@pytest.mark.thorough
@pytest.mark.fault("functions/limits", r"count\(\*\) \* extract", "0 * extract")
def test_rate_without_a_burst_is_kept_at_random_times(queue: Queue) -> None:
    """The time from the moment at which a job may start to the next of these times is lost."""
    starts, may_start = start_at_random_times(queue, burst=1)

    assert starts == pytest.approx(dict.fromkeys(GROUPS, may_start), rel=0.01)
    assert max(starts.values()) <= 1.01 * RATE + 1


@pytest.mark.thorough
@pytest.mark.fault("functions/limits", r"count\(\*\) \* extract", "1.02 * count(*) * extract")
def test_rate_without_a_burst_is_reached_within_one_percent(queue: Queue) -> None:
    minute = Minute(queue, 1, amount(1, DISPATCHERS), amount(2, WORKERS))
    for moment in times_when_a_job_may_start(minute.begins, Random(1)):
        minute.look(moment)

    assert set(minute.starts) == set(GROUPS)
    assert all(0.99 * RATE <= count <= 1.01 * RATE + 1 for count in minute.starts.values())
