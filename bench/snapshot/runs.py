"""Run a client for some time, with or without an old snapshot, and collect its samples."""

import json
import os
import shutil
import subprocess
import sys
from dataclasses import asdict, dataclass
from pathlib import Path

import psycopg

from bench.peers.environment import MODULES, NODE, PYTHON
from bench.server import fresh, server
from bench.snapshot.clients.steady import Load

ROOT = Path(__file__).parents[2]
CLIENTS = Path(__file__).parent / "clients"


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
            shutil.copy(CLIENTS / name, MODULES / name)
        return [str(self._program), str(MODULES / self.client), text]

    @property
    def _program(self) -> Path:
        if not self.peer:
            return Path(sys.executable)
        return NODE if self.client.endswith(".mjs") else PYTHON


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
    """Run a system on a new database; with `held`, a REPEATABLE READ transaction stays open from the start."""
    with server() as address:
        url = fresh(address)
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
