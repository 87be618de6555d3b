"""Dropping a day makes the next tick check the successors that wait for its failed jobs."""

from minutehand.database import Connection
from tests.pipeline.archive.stage import ask
from tests.pipeline.archive.test_drop import DAY, archived, archived_from_default, drop

CHECKED = "select array_agg(job::text) from minutehand.predecessor_checks"


def wait_for_a_failure(connection: Connection, day: str) -> str:
    """Let a successor wait for the retry of a failed job of a day; return the failed job's id."""
    connection.execute(
        f"insert into minutehand.jobs (kind, deleted, failed) values ('bad', '{day} 12:00+00', true)"
    )
    job = ask(connection, "select id::text from minutehand.jobs where kind = 'bad'")
    connection.execute("insert into minutehand.waits values (%s, gen_random_uuid())", [job])
    return str(job)


def test_drop_checks_the_successors_of_failed_jobs(connection: Connection) -> None:
    job = wait_for_a_failure(connection, DAY)
    archived(connection, "jobs_done")

    assert drop(connection, "jobs_done") == "dropped"
    assert ask(connection, CHECKED) == [job]


def test_exchange_checks_the_successors_of_failed_jobs(connection: Connection) -> None:
    job = wait_for_a_failure(connection, "2020-02-29")
    archived_from_default(connection)

    exchanged = ask(connection, "select minutehand.exchange_default('jobs_done', '{2020-02-29}')")

    assert (exchanged, ask(connection, CHECKED)) == ("dropped", [job])
