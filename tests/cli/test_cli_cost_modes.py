"""What the jobs of a month need in each mode."""

from contextlib import closing

import psycopg

from minutehand import Database
from minutehand.costs.month import parse_month
from minutehand.queries.usage import finished_work


def test_modes_need_what_the_times_of_jobs_require(invoke, direct_database):
    """The dispatcher of mode prompt waits from an enqueue, or from the tick that has the job in its next 75 seconds."""
    times = [("10:00:10", "10:00:10"), ("10:00:20", "10:00:50"), ("09:00:00", "10:02:05")]
    for _ in times:
        invoke("enqueue", "echo", "--in", "40m")
    with psycopg.connect(direct_database.admin_url, autocommit=True) as connection:
        for place, (enqueued, run_at) in enumerate(times):
            connection.execute(
                """update minutehand.jobs
                       set deleted = '2020-02-02', failed = false, attempts = 1, enqueued = %s, run_at = %s
                     where id = (select id from minutehand.jobs order by id offset %s limit 1)""",
                [f"2020-02-01T{enqueued}Z", f"2020-02-01T{run_at}Z", place],
            )
    with closing(Database(direct_database.url)) as database:
        month = parse_month("2020-02")
        work = finished_work(database, month.since, month.until, longest_delay=900, chunk=2)

    assert (work.wakeups, work.tick_invocations, work.prompt_invocations) == (2, 2, 3)
    assert (work.wait_seconds, work.woken) == (30 + 65, 1)
