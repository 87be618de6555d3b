"""The limit: a table, and a loop of two statements in psycopg, which prepares them. It stores nothing else."""

import json
from collections.abc import Callable

import psycopg

from bench.queues.clients.program import Load, Timed, drain_in_processes, main, timed

TABLE = """
create table bare (
    id uuid primary key default gen_random_uuid(), payload json not null,
    visible timestamptz not null default clock_timestamp(), deleted timestamptz, ack uuid);
create index bare_visible on bare (visible) where deleted is null"""
CLAIM = """
update bare set ack = gen_random_uuid(), visible = now() + interval '1 minute'
 where id = any(array(
    select id from bare where visible <= now() and deleted is null order by visible limit %s for update skip locked))
returning id, ack, payload"""
FINISH = """
update bare set deleted = now() from unnest(%s::uuid[], %s::uuid[]) as done (id, ack)
 where bare.id = done.id and bare.ack = done.ack"""
FINISH_ONE = "update bare set deleted = now() where id = %s and ack = %s"


def prepare(url: str, load: Load) -> None:
    """Create the table."""
    with psycopg.connect(url) as connection:
        connection.execute(TABLE)


def single(url: str, load: Load) -> Timed:
    """Insert rows one at a time."""
    connection = psycopg.connect(url, autocommit=True)

    def run() -> None:
        for payload in load.payloads:
            connection.execute("insert into bare (payload) values (%s)", (json.dumps(payload),))

    return timed(load.jobs, run)


def bulk(url: str, load: Load) -> Timed:
    """Copy rows."""
    connection = psycopg.connect(url, autocommit=True)

    def run() -> None:
        with connection.cursor().copy("copy bare (payload) from stdin") as copy:
            for payload in load.payloads:
                copy.write_row((json.dumps(payload),))

    return timed(load.jobs, run)


def worker(url: str, load: Load, connected: Callable[[], object]) -> int:
    """Claim and finish rows until none is due."""
    handled = 0
    with psycopg.connect(url, autocommit=True) as connection:
        connected()
        while rows := connection.execute(CLAIM, (load.batch,)).fetchall():
            if load.batch == 1:
                connection.execute(FINISH_ONE, rows[0][:2])
            else:
                connection.execute(FINISH, ([row[0] for row in rows], [row[1] for row in rows]))
            handled += len(rows)
    return handled


if __name__ == "__main__":
    main({"prepare": prepare, "single": single, "bulk": bulk, "drain": drain_in_processes(worker)})
