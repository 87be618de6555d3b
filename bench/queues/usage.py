"""What a run uses on the server: processor time of its processes, and bytes of WAL."""

from dataclasses import dataclass

import psutil
import psycopg


@dataclass(frozen=True)
class Usage:
    """Counters that only grow: bytes of WAL, and seconds of processor time, or None for a server elsewhere."""

    seconds: float | None
    wal: int

    def since(self, before: "Usage") -> "Usage":
        """Return the difference."""
        seconds = None if self.seconds is None or before.seconds is None else self.seconds - before.seconds
        return Usage(seconds, self.wal - before.wal)


def usage(url: str) -> Usage:
    """Return the counters of the server now."""
    statement = "select pg_backend_pid(), (pg_current_wal_insert_lsn() - '0/0'::pg_lsn)::bigint"
    with psycopg.connect(url) as connection:
        [(backend, wal)] = connection.execute(statement).fetchall()
        return Usage(_seconds(backend), wal)


def backend_seconds(backend: int) -> float | None:
    """Return the processor time of a process of the server, or None for a server elsewhere."""
    process = _postgres(backend)
    return None if process is None else _time(process)


def _seconds(backend: int) -> float | None:
    """Return the processor time of the server of a backend: of its living processes, and of those that ended."""
    process = _postgres(backend)
    server = process and process.parent()
    if server is None:
        return None
    ended = server.cpu_times()
    living = [_time(child) for child in server.children()]
    return ended.children_user + ended.children_system + sum(living)


def _postgres(backend: int) -> psutil.Process | None:
    """Return the process of a backend, or None if it runs elsewhere."""
    try:
        process = psutil.Process(backend)
        return process if "postgres" in process.name() else None
    except psutil.NoSuchProcess:
        return None


def _time(process: psutil.Process) -> float:
    try:
        times = process.cpu_times()
    except psutil.NoSuchProcess:
        return 0.0
    return float(times.user + times.system)
