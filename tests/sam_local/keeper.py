"""Run an engine and a Postgres for the tests until standard input closes, even if the tests are killed.

One line of JSON says where these are, or what they lack.
"""

import json
import signal
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from shutil import rmtree
from urllib.parse import urlsplit

import psutil
import psycopg

from minutehand.local import postgres
from minutehand.schema.migrate import migrate
from tests.sam_local.engine import LOOPBACK, NoEngineError, open_engine
from tests.sam_local.image import get_image

HOST = "host.docker.internal"


def main(home: Path, runtime: str) -> None:
    """Open everything, say where it is, and close it when nobody listens any more."""
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    with ExitStack() as stack:
        stack.callback(rmtree, home, ignore_errors=True)
        try:
            engine = stack.enter_context(open_engine(home))
        except NoEngineError as error:
            print(json.dumps({"lacks": str(error)}))
            return
        image = get_image(engine, runtime)
        if image.name:
            stack.callback(engine.docker, "image", "rm", "--force", image.name)
        url = stack.enter_context(_postgres(home, engine.gateway))
        facts = {"docker": engine.host, "gateway": engine.gateway, "own": engine.own, "image": image.name}
        print(json.dumps({**facts, "runtime": image.runtime, "database": url}), flush=True)
        sys.stdin.buffer.read()
        _end_all_in(home)


def _end_all_in(home: Path) -> None:
    """End what the tests have not ended, because they were killed."""
    for process in psutil.process_iter():
        with suppress(psutil.Error):
            if Path(process.cwd()).is_relative_to(home / "project"):
                process.terminate()


@contextmanager
def _postgres(home: Path, gateway: str) -> Iterator[str]:
    """Serve a Postgres to this machine and, with its password, to the containers."""
    addresses = ",".join({LOOPBACK, gateway})
    server = postgres.start(home / "postgres", fsync=False, settings={"listen_addresses": addresses})
    try:
        with psycopg.connect(server.url, autocommit=True) as connection:
            with (home / "postgres" / "data" / "pg_hba.conf").open("a") as rules:
                rules.write(f"host all all {gateway}/16 scram-sha-256\n")
            connection.execute("select pg_reload_conf()")
        migrate(server.url)
        yield server.url
    finally:
        server.stop()


def in_a_container(url: str) -> str:
    """Return a database's URL as containers must say it."""
    parts = urlsplit(url)
    return parts._replace(netloc=f"postgres:{parts.password}@{HOST}:{parts.port}").geturl()


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2])
