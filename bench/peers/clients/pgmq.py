"""pgmq: read and archive through its SQL functions, which PGMQ_SQL contains."""

import json
import os
from collections.abc import Callable
from pathlib import Path

import psycopg

from bench.queues.clients.program import Load, Timed, drain_in_processes, main, timed

CHUNK = 1000
HIDDEN_SECONDS = 300


def prepare(url: str, load: Load) -> None:
    """Create its functions and a queue."""
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute(Path(os.environ["PGMQ_SQL"]).read_bytes())
        connection.execute("select pgmq.create('q')")


def bulk(url: str, load: Load) -> Timed:
    """Send messages in batches."""
    connection = psycopg.connect(url, autocommit=True)
    texts = [json.dumps(payload) for payload in load.payloads]

    def run() -> None:
        for start in range(0, load.jobs, CHUNK):
            connection.execute("select pgmq.send_batch('q', %s::jsonb[])", (texts[start : start + CHUNK],))

    return timed(load.jobs, run)


def worker(url: str, load: Load, connected: Callable[[], object]) -> int:
    """Read and archive messages until none is left."""
    handled = 0
    with psycopg.connect(url, autocommit=True) as connection:
        connected()
        while rows := connection.execute(
            "select msg_id, message from pgmq.read('q', %s, %s)", (HIDDEN_SECONDS, load.batch)
        ).fetchall():
            connection.execute("select pgmq.archive('q', %s::bigint[])", ([row[0] for row in rows],))
            handled += len(rows)
    return handled


if __name__ == "__main__":
    main({"prepare": prepare, "bulk": bulk, "drain": drain_in_processes(worker)})
