"""pgmq: read and archive through its SQL functions, which PGMQ_SQL contains."""

import os
from pathlib import Path

import psycopg

from bench.snapshot.clients.steady import main

HIDDEN_SECONDS = 300


class Pgmq:
    """A queue of pgmq."""

    def __init__(self, url: str) -> None:
        """Connect."""
        self._connection = psycopg.connect(url, autocommit=True)
        self.close = self._connection.close

    def prepare(self) -> None:
        """Create its functions and a queue."""
        self._connection.execute(Path(os.environ["PGMQ_SQL"]).read_bytes())
        self._connection.execute("select pgmq.create('q')")

    def enqueue(self, count: int) -> None:
        """Send messages together."""
        self._connection.execute("select pgmq.send_batch('q', %s::jsonb[])", (['{"n": 1}'] * count,))

    def claim(self, batch: int) -> list[int]:
        """Read messages."""
        rows = self._connection.execute("select msg_id from pgmq.read('q', %s, %s)", (HIDDEN_SECONDS, batch))
        return [row[0] for row in rows.fetchall()]

    def finish(self, jobs: list[int]) -> None:
        """Archive messages."""
        self._connection.execute("select pgmq.archive('q', %s::bigint[])", (jobs,))


if __name__ == "__main__":
    main(Pgmq)
