"""The limit of an enqueue: the same rows straight into our table, with its checks and indexes, but without our code."""

import json

import psycopg

from bench.queues.clients.program import KIND, Load, Timed, main, timed
from minutehand.schema.migrate import migrate


def prepare(url: str, load: Load) -> None:
    """Create the schema."""
    migrate(url)


def single(url: str, load: Load) -> Timed:
    """Insert jobs one at a time."""
    connection = psycopg.connect(url, autocommit=True)
    statement = "insert into minutehand.jobs (kind, payload) values (%s, %s::json)"

    def run() -> None:
        for payload in load.payloads:
            connection.execute(statement, (KIND, json.dumps(payload)))

    return timed(load.jobs, run)


def bulk(url: str, load: Load) -> Timed:
    """Copy jobs."""
    connection = psycopg.connect(url, autocommit=True)

    def run() -> None:
        with connection.cursor().copy("copy minutehand.jobs (kind, payload) from stdin") as copy:
            for payload in load.payloads:
                copy.write_row((KIND, json.dumps(payload)))

    return timed(load.jobs, run)


if __name__ == "__main__":
    main({"prepare": prepare, "single": single, "bulk": bulk})
