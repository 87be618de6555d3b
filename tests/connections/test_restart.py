"""Server restarts and exhausted connections: interrupted jobs are retried, and none is lost."""

import socket
import struct
from collections.abc import Iterator
from contextlib import suppress
from datetime import timedelta
from pathlib import Path
from threading import Thread
from typing import Any, Self

import psycopg
import pytest
from psycopg.conninfo import conninfo_to_dict, make_conninfo

from minutehand import Database, Job, enqueue
from minutehand.claim import take
from minutehand.database import connect
from minutehand.errors import UnreachableError
from minutehand.finish import finish
from minutehand.local import postgres
from minutehand.model.outcome import Done
from minutehand.queries.jobs import stats
from minutehand.schema.migrate import migrate

LEASE, GRACE = timedelta(minutes=1), timedelta(seconds=2)


class Restarted:
    """A Postgres of the test that can be stopped and restarted on its port."""

    def __init__(self, home: Path) -> None:
        self._home = home
        self._server = self.start()
        self.url = self._server.url

    def start(self, **settings: str) -> postgres.Server:
        self._server = postgres.start(self._home / "server", fsync=True, settings=settings)
        return self._server

    def stop(self) -> None:
        self._server.stop()

    def restart(self, **settings: str) -> None:
        self.stop()
        self.start(**settings)


@pytest.fixture(scope="module")
def restarted(home: Path) -> Iterator[Restarted]:
    server = Restarted(home)
    db = Database(server.url)
    migrate(db)
    db.close()
    yield server
    server.stop()


@pytest.fixture
def db(restarted: Restarted) -> Iterator[Database]:
    db = Database(restarted.url)
    yield db
    db.close()


def taken(db: Database, queue: str) -> list[Job]:
    return list(take(db, queue, 5, LEASE, GRACE))


def ended(db: Database, queue: str) -> dict[str, int]:
    return {depth.state: depth.jobs for depth in stats(db) if depth.queue == queue}


def test_restart_between_statements_is_transparent(restarted: Restarted, db: Database) -> None:
    enqueue("echo", connection=db, queue="between")
    restarted.restart()

    assert enqueue("echo", connection=db, queue="between").outcome == "created"
    assert ended(db, "between") == {"due": 2}


def test_claim_that_outlives_a_restart_is_finished(restarted: Restarted, db: Database) -> None:
    enqueue("echo", connection=db, queue="claimed")
    [job] = taken(db, "claimed")
    restarted.restart()

    assert finish(job, Done()).ending == "done"
    assert ended(db, "claimed") == {"done": 1}


def test_unfinished_job_is_retried_after_an_outage(restarted: Restarted, db: Database) -> None:
    enqueue("echo", connection=db, queue="away")
    [job] = list(take(db, "away", 5, timedelta(), timedelta()))
    restarted.stop()
    with pytest.raises(UnreachableError, match=r"^the database cannot be reached: "):
        finish(job, Done())
    restarted.start()

    [again] = taken(db, "away")
    assert (again.id, again.attempt) == (job.id, 2)
    assert finish(again, Done()).ending == "done"
    assert ended(db, "away") == {"done": 1}


def test_too_many_connections_is_retried(restarted: Restarted) -> None:
    with Refusing(restarted.url, times=2) as door, connect(door.url) as connection:
        assert connection.execute("select 1").fetchone() == (1,)
        assert door.refused == 2


def test_persistent_too_many_connections_is_a_one_line_error(
    restarted: Restarted, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MINUTEHAND_CONNECT_TIMEOUT", "5")
    with psycopg.connect(restarted.url, autocommit=True) as admin:
        admin.execute("create role crowded login password 'crowded' connection limit 0")
        with pytest.raises(
            UnreachableError, match=r"too many connections for role.*; .*lower MINUTEHAND_CAPACITY"
        ):
            connect(make_conninfo(restarted.url, user="crowded", password="crowded"))


def test_starting_server_is_waited_for(restarted: Restarted) -> None:
    with (
        Refusing(restarted.url, times=3, code="57P03", words="the database system is starting up") as door,
        connect(door.url) as connection,
    ):
        assert connection.execute("select 1").fetchone() == (1,)


class Refusing:
    """A proxy that rejects the first clients with the error of a full server."""

    def __init__(
        self, url: str, *, times: int, code: str = "53300", words: str = "sorry, too many clients already"
    ) -> None:
        parts = conninfo_to_dict(url)
        self._behind = (str(parts["host"]), int(str(parts["port"])))
        fields = b"SFATAL\0VFATAL\0C" + code.encode() + b"\0M" + words.encode() + b"\0\0"
        self._refusal = b"E" + struct.pack("!I", len(fields) + 4) + fields
        self._times, self.refused = times, 0
        self._listener = socket.create_server(("127.0.0.1", 0))
        port = self._listener.getsockname()[1]
        self.url = make_conninfo(url, port=port, sslmode="disable", gssencmode="disable")
        self._ends: list[socket.socket] = []
        self._threads = [Thread(target=self._accept)]

    def __enter__(self) -> Self:
        self._threads[0].start()
        return self

    def __exit__(self, *_: Any) -> None:
        for end in (self._listener, *self._ends):
            with suppress(OSError):
                end.shutdown(socket.SHUT_RDWR)
        for thread in self._threads:
            thread.join()
        for end in (self._listener, *self._ends):
            end.close()

    def _accept(self) -> None:
        with suppress(OSError):
            while True:
                client, _ = self._listener.accept()
                self._ends.append(client)
                if self.refused < self._times:
                    self.refused += 1
                    client.recv(65536)
                    client.sendall(self._refusal)
                    client.shutdown(socket.SHUT_RDWR)
                    continue
                server = socket.create_connection(self._behind)
                self._ends.append(server)
                for ways in ((client, server), (server, client)):
                    self._threads.append(Thread(target=_pump, args=ways))
                    self._threads[-1].start()


def _pump(source: socket.socket, sink: socket.socket) -> None:
    with suppress(OSError):
        while block := source.recv(65536):
            sink.sendall(block)
    with suppress(OSError):
        sink.shutdown(socket.SHUT_RDWR)
