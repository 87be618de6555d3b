"""Run a client for some time, with or without an old snapshot, and collect its samples."""

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

import psycopg
from psycopg.conninfo import conninfo_to_dict

from bench.snapshot.clients.steady import Load
from minutehand.local import postgres

ROOT = Path(__file__).parents[2]
CLIENTS = Path(__file__).parent / "clients"
# Where `make bench/peers` installs the peers.
PEERS = ROOT / ".venv" / "peers"
SETTINGS = {"shared_buffers": "256MB", "max_wal_size": "4GB", "autovacuum_naptime": "5s"}


@dataclass(frozen=True)
class Sample:
    """One operation: its name, the second in which it began, and its duration in milliseconds."""

    name: str
    second: float
    ms: float


@dataclass(frozen=True)
class System:
    """A queue: its title, its client, and the arguments of the client."""

    title: str
    client: str
    arguments: tuple[str, ...] = ()
    peer: bool = True

    @property
    def missing(self) -> str | None:
        """What must be done before it can run."""
        if self.peer and not self._program.exists():
            return "run `make bench/peers` first, which installs it"
        if self.client == "pgmq" and not os.environ.get("PGMQ_SQL"):
            return "set PGMQ_SQL to the path of its file pgmq.sql"
        return None

    def command(self, load: Load) -> list[str]:
        """Return the command line of the client."""
        text = json.dumps(asdict(load))
        if not self.client.endswith(".mjs"):
            return [str(self._program), "-m", f"bench.snapshot.clients.{self.client}", text, *self.arguments]
        # Node looks for packages next to the file.
        for name in (self.client, "steady.mjs"):
            shutil.copy(CLIENTS / name, PEERS / "node" / name)
        return [str(self._program), str(PEERS / "node" / self.client), text]

    @property
    def _program(self) -> Path:
        if not self.peer:
            return Path(sys.executable)
        return PEERS / "python" / "bin" / ("node" if self.client.endswith(".mjs") else "python")


SYSTEMS = {
    "minutehand": System("minutehand, resident workers", "minutehand", peer=False),
    "invited": System("minutehand, invited workers", "minutehand", ("invited",), peer=False),
    "pgmq": System("pgmq", "pgmq"),
    "pgqueuer": System("PgQueuer", "pgqueuer"),
    "procrastinate": System("Procrastinate", "procrastinate"),
    "pg-boss": System("pg-boss", "steady_pg_boss.mjs"),
    "graphile-worker": System("graphile-worker", "steady_graphile_worker.mjs"),
}


def run(system: System, load: Load, *, held: bool) -> list[Sample]:
    """Run a system on a new server; with `held`, a REPEATABLE READ transaction stays open from the start."""
    with _server() as url:
        environment = {**os.environ, "DATABASE_URL": url, "PYTHONPATH": str(ROOT)}
        with subprocess.Popen(
            system.command(load), cwd=ROOT, env=environment, stdout=subprocess.PIPE, text=True
        ) as process:
            try:
                return _samples(process, url, held=held)
            finally:
                process.kill()


def _samples(process: subprocess.Popen[str], url: str, *, held: bool) -> list[Sample]:
    assert process.stdout
    if process.stdout.readline().strip() != "started":
        raise RuntimeError("the client did not start; its error is above")
    with psycopg.connect(url) as old:
        if held:
            old.isolation_level = psycopg.IsolationLevel.REPEATABLE_READ
            old.execute("select count(*) from pg_class")
        lines = process.stdout.read().strip().splitlines()
    if not lines:
        raise RuntimeError("the client ended without samples; its error is above")
    return [Sample(*each) for each in json.loads(lines[-1])]


@contextmanager
def _server() -> Iterator[str]:
    with TemporaryDirectory(prefix="minutehand-bench-") as directory:
        server = postgres.start(Path(directory), settings=SETTINGS)
        try:
            parts = conninfo_to_dict(server.url)
            yield "postgresql://{user}:{password}@{host}:{port}/{dbname}".format(**parts)
        finally:
            server.stop()
