"""Drain a queue, compared with a minimal loop of two statements in psycopg."""

from collections import deque
from datetime import timedelta
from threading import Event

from bench.measure import Measured, against
from minutehand.claim import claim
from minutehand.database import Database
from minutehand.enqueue import enqueue_many
from minutehand.finish import finish
from minutehand.handlers import HandlerTable
from minutehand.model.new_job import NewJob
from minutehand.model.outcome import Done
from minutehand.offer import offer
from minutehand.work import work

BARE_TABLE = """
create table if not exists bare (
    id uuid primary key default gen_random_uuid(), payload json not null,
    visible timestamptz not null default clock_timestamp(), deleted timestamptz, ack uuid);
create index if not exists bare_visible on bare (visible) where deleted is null;
truncate bare"""
BARE_CLAIM = """
with next as materialized (
    select id from bare where visible <= now() and deleted is null order by visible limit 1 for update skip locked)
update bare set ack = gen_random_uuid(), visible = now() + interval '1 minute' from next where bare.id = next.id
returning bare.id, bare.ack, bare.payload"""
BARE_FINISH = "update bare set deleted = now() where id = %s and ack = %s"
LEASE, GRACE = timedelta(minutes=1), timedelta(seconds=2)


def measure(url: str, jobs: int) -> list[Measured]:
    """Measure an invited worker, a resident worker, and chunks."""
    database = Database(url)
    handlers = HandlerTable({"echo": lambda payload: None})

    def fill() -> None:
        database.connection.execute("truncate minutehand.jobs")
        deque(enqueue_many((NewJob("echo", {"n": n}) for n in range(jobs)), connection=database), maxlen=0)
        database.connection.execute(BARE_TABLE)
        database.connection.execute(
            "insert into bare (payload) select '{\"n\": 1}' from generate_series(1, %s)", (jobs,)
        )
        database.connection.execute("vacuum analyze minutehand.jobs_live, bare")

    def bare() -> None:
        while claimed := database.connection.execute(BARE_CLAIM).fetchone():
            database.connection.execute(BARE_FINISH, claimed[:2])

    def invited() -> None:
        for offered in offer(database, jobs, timedelta(minutes=5)).offers:
            for job in claim(database, [offered], LEASE, GRACE):
                finish(job, Done())

    def resident(chunk: int) -> None:
        work(database, handlers, Event(), chunk=chunk, drain=True)

    measured = [
        against("one by one, invited / bare loop", jobs, invited, bare, before=fill, aim="0.80"),
        against("one by one, resident / bare loop", jobs, lambda: resident(1), bare, before=fill, aim="0.80"),
        against("chunks of 10, resident / bare loop", jobs, lambda: resident(10), bare, before=fill),
        against("chunks of 100, resident / bare loop", jobs, lambda: resident(100), bare, before=fill),
    ]
    database.connection.execute("truncate minutehand.jobs; drop table bare")
    database.close()
    return measured
