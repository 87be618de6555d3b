"""The peers, and how their tables show that every job was handled."""

import os
from pathlib import Path

from bench.peers.environment import MODULES, NODE, PYTHON
from bench.queues.cases import BACKLOGS
from bench.queues.systems import System

DRAINED_AND_BULK = ("one", "batch", "bulk")
WITH_BACKLOGS = (*DRAINED_AND_BULK, *(case.name for case in BACKLOGS))
NODE_LAYOUT = "4 loops in a process"


def python(name: str, title: str, cases: tuple[str, ...], counts: str) -> System:
    """Return a system with a client in Python."""
    return System(name, title, cases, (PYTHON, "-m", f"bench.peers.clients.{name}"), counts)


def node(name: str, title: str, counts: str, cases: tuple[str, ...] = WITH_BACKLOGS) -> System:
    """Return a system with a client in JavaScript."""
    client = MODULES / f"{name.replace('-', '_')}.mjs"
    return System(name, title, cases, (NODE, client), counts, NODE_LAYOUT)


PGMQ = python(
    "pgmq",
    "pgmq",
    WITH_BACKLOGS,
    "select (select count(*) from pgmq.q_q), (select count(*) from pgmq.a_q)",
)
PGQUEUER = python(
    "pgqueuer",
    "PgQueuer",
    WITH_BACKLOGS,
    "select (select count(*) from pgqueuer), (select count(*) from pgqueuer_log where status = 'successful')",
)
PROCRASTINATE = python(
    "procrastinate",
    "Procrastinate",
    # Its workers fetch and finish one job at a time.
    ("one", "bulk"),
    """select count(*) filter (where status in ('todo', 'doing')), count(*) filter (where status = 'succeeded')
         from procrastinate_jobs""",
)
PG_BOSS = node(
    "pg-boss",
    "pg-boss",
    "select count(*) filter (where state < 'completed'), count(*) filter (where state = 'completed') from pgboss.job",
)
GRAPHILE = node(
    "graphile-worker", "graphile-worker", "select count(*), null from graphile_worker._private_jobs"
)
DOCMQ = node(
    "docmq",
    "DocMQ",
    "select count(*) filter (where deleted is null), count(deleted) filter (where not dead) from docmq.bench",
    # It acknowledges a batch one job at a time, so a backlog would take minutes.
    DRAINED_AND_BULK,
)
PEERS = (PGMQ, PGQUEUER, PROCRASTINATE, PG_BOSS, GRAPHILE, DOCMQ)


def pgmq_sql() -> Path | None:
    """Return the file of pgmq's functions, from PGMQ_SQL, or None. Raise FileNotFoundError if there is no such file."""
    name = os.environ.get("PGMQ_SQL")
    if not name:
        return None
    path = Path(name).resolve()
    if not path.is_file():
        raise FileNotFoundError(f"PGMQ_SQL must be the path of pgmq.sql, got {name}")
    return path
