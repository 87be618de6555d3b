"""A browser, and the API as a local run or a deployment serves it."""

import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing, contextmanager
from functools import cache
from pathlib import Path
from typing import NamedTuple

import pytest
from playwright.sync_api import Browser, Page

from minutehand import Database
from minutehand.database import connect
from tests import servers
from tests.browsers import chromium, opened_page
from tests.console.examples import enqueue_crowd, enqueue_hostile
from tests.console.million import fill, vacuum
from tests.ports import free_port
from tests.thorough import THOROUGH

API = Path(__file__).parent.parent.parent / "functions" / "api"
TOKEN = "a-token-of-sixteen-characters"

Serve = Callable[..., str]


class Crowd(NamedTuple):
    """The address of a console whose database has the jobs of all pages and actions, and the id of one of each kind."""

    url: str
    ids: dict[str, str]


@pytest.fixture(scope="package")
def browser() -> Iterator[Browser]:
    """The browser of this machine, for the length of these tests."""
    with chromium() as opened:
        yield opened


@pytest.fixture
def page(browser: Browser) -> Iterator[Page]:
    """A page that fails the test after a script error or a violation of its content security policy."""
    faults: list[str] = []
    with opened_page(browser, viewport={"width": 1280, "height": 900}) as opened:
        opened.on("pageerror", lambda error: faults.append(str(error)))
        opened.on(
            "console",
            lambda message: faults.append(message.text) if "Content Security" in message.text else None,
        )
        yield opened
    assert faults == []


@pytest.fixture(scope="package")
def serve_once() -> Iterator[Callable[[str, frozenset[tuple[str, str]]], str]]:
    """Serve the API, once for each database and settings, for the length of these tests."""
    with ExitStack() as served:
        yield cache(lambda url, settings: served.enter_context(serving(url, dict(settings))))


@pytest.fixture
def serve(
    direct_database: servers.Database, serve_once: Callable[[str, frozenset[tuple[str, str]]], str]
) -> Serve:
    """Serve the API with the test's database, and return its URL."""
    return lambda **settings: serve_once(direct_database.url, frozenset(settings.items()))


@contextmanager
def serving(url: str, settings: dict[str, str]) -> Iterator[str]:
    port = free_port()
    command = [sys.executable, "-m", "minutehand.local.serve_api", str(API), "app:app", str(port)]
    with subprocess.Popen(
        command,
        env={**os.environ, "DATABASE_URL": url, **settings},
        stdin=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
    ) as served:
        subprocess.run(
            [
                "curl",
                "-sS",
                "--retry",
                "100",
                "--retry-delay",
                "1",
                "--retry-connrefused",
                "--max-time",
                "60",
                "-o",
                os.devnull,
                f"http://127.0.0.1:{port}/health",
            ],
            check=True,
        )
        try:
            yield f"http://127.0.0.1:{port}"
            served.communicate(timeout=60)
        finally:
            served.kill()


@pytest.fixture(scope="package")
def full(servers: servers.Servers, server_name: str) -> Iterator[servers.Database]:
    """A database with a million jobs."""
    address = servers.address(server_name)
    database = address.make()
    with connect(database.admin_url) as connection:
        fill(connection)
    yield database
    address.drop(database)


@pytest.fixture(scope="package")
def full_crowd(full: servers.Database) -> tuple[str, dict[str, str]]:
    ids = crowded(full.url)
    with connect(full.admin_url) as connection:
        vacuum(connection)
    return full.url, ids


@pytest.fixture
def crowd(
    request: pytest.FixtureRequest, serve_once: Callable[[str, frozenset[tuple[str, str]]], str]
) -> Crowd:
    """The examples, with hostile names and texts, and in a thorough run a million other jobs."""
    if THOROUGH:
        url, ids = request.getfixturevalue("full_crowd")
    else:
        url = request.getfixturevalue("direct_database").url
        ids = crowded(url)
    return Crowd(f"{serve_once(url, frozenset({('MINUTEHAND_LOCAL', '1')}))}/console", ids)


def crowded(url: str) -> dict[str, str]:
    with closing(Database(url)) as opened:
        enqueue_hostile(opened)
        return enqueue_crowd(opened)


@pytest.fixture
def db(direct_database: servers.Database) -> Iterator[Database]:
    with closing(Database(direct_database.url)) as opened:
        yield opened
