"""Groups under eight dispatchers and twenty workers: never one job too many, never stuck, and rates that hold."""

from collections import defaultdict
from datetime import datetime, timedelta
from random import Random
from threading import Barrier

import pytest

from minutehand import Database, Job
from minutehand.finish import finish
from minutehand.model.outcome import Done, Failed, Outcome
from minutehand.operations.controls import limit
from tests.queue.stage import Queue
from tests.thorough import amount

DISPATCHERS, WORKERS = 8, 20
# Of each session. Far fewer are needed.
ROUNDS = 2000
ERROR = {"type": "ValueError", "message": "no"}
# The jobs that are offered or running, beyond what their group may have.
EXCESS = """
select j.queue, j.group, count(*) as jobs
  from minutehand.jobs_live j
 where coalesce(j.offered, j.claimed) is not null and j.visible > clock_timestamp()
 group by j.queue, j.group
having count(*) > case j.queue when 'wide' then 3 else 1 end"""
LEFT = "select count(*) as jobs from minutehand.jobs_live"
NOW = "select clock_timestamp() as now"
# By the time of the first claim, whether a job of an ordered group started before an earlier one.
UNORDERED = """
select count(*) as jobs
  from (select a.started, max(a.started) over (
                   partition by j.group order by j.run_at, j.id
                   rows between unbounded preceding and 1 preceding) as before
          from minutehand.jobs j
          join minutehand.attempts a on a.job = j.id
         where j.queue = 'ordered' and a.outcome = 'done') o
 where o.started < o.before"""


@pytest.mark.thorough
def test_groups_are_never_exceeded_and_never_stuck(queue: Queue) -> None:
    """Workers that take, workers that are invited, and failures; jobs of ordered groups end in order."""
    limit(queue.database, 3, per="group", queue="wide")
    limit(queue.database, 1, per="group", queue="ordered", in_order=True)
    random = Random(7)
    for _ in range(amount(200, 1500)):
        place = random.choice(("plain", "wide", "ordered"))
        queue.enqueue(queue=place, group=f"g{random.randint(1, 6)}")
    barrier = Barrier(DISPATCHERS + WORKERS)

    def session(number: int) -> int:
        database, exceeded, own = queue.another(), 0, Random(number)
        barrier.wait()
        for _ in range(ROUNDS):
            if database.connection.execute(LEFT).fetchone() == (0,):
                break
            exceeded += len(database.connection.execute(EXCESS).fetchall())
            for job in start(queue, database, number, own):
                finish(job, outcome(own))
        return exceeded

    sessions = [queue.start(session, number) for number in range(DISPATCHERS + WORKERS)]

    assert [each.result() for each in sessions] == [0] * (DISPATCHERS + WORKERS)
    assert queue.sql(LEFT) == [{"jobs": 0}]
    assert queue.sql(UNORDERED) == [{"jobs": 0}]


def start(queue: Queue, database: Database, number: int, random: Random) -> list[Job]:
    """Let a session offer and claim as a dispatcher and its workers do, or take as a resident worker does."""
    if number < DISPATCHERS:
        return queue.claim(*queue.offer(random.randint(5, 50), database), database=database)
    return queue.take(random.randint(1, 4), random.choice(("plain", "wide", "ordered")), database)


def outcome(random: Random) -> Outcome:
    """Fail one attempt in ten, with a retry at once."""
    return Failed(ERROR, timedelta()) if random.random() < 0.1 else Done()


@pytest.mark.parametrize(("burst", "least"), [(1, 0), (10, 0.99)])
def test_rate_holds_within_one_percent_over_a_minute(queue: Queue, burst: int, least: float) -> None:
    """Dispatchers at uneven times of one minute. Without a burst, the time between two of them is lost."""
    rate, seconds = 120, 60
    limit(queue.database, 1000, per="group", rate=rate, period=timedelta(minutes=1), burst=burst)
    for group in ("a", "b"):
        queue.sql(
            """insert into minutehand.jobs_live (kind, "group", run_at, visible)
               select 'echo', %(group)s, now() - interval '1 hour', now() - interval '1 hour'
                 from generate_series(1, 300)""",
            group=group,
        )
    begin = queue.sql(NOW)[0]["now"]
    random = Random(burst)
    starts: dict[str, list[datetime]] = defaultdict(list)
    for moment in sorted(
        begin + timedelta(seconds=random.uniform(0, seconds)) for _ in range(amount(260, 1000))
    ):
        offers = queue.offer(now=moment, capacity=1000)
        groups = queue.sql(
            'select "group" from minutehand.jobs where id = any (%(ids)s)', ids=[offer.id for offer in offers]
        )
        for row in groups:
            starts[row["group"]].append(moment)

    for moments in starts.values():
        assert least * rate <= len(moments) <= 1.01 * rate + burst
    assert set(starts) == {"a", "b"}
