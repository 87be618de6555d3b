"""A browser, and the API as a local run or a deployment serves it."""

import os
import socket
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing, contextmanager
from functools import cache
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect

from minutehand import Database
from tests import servers
from tests.browsers import chromium

API = Path(__file__).parent.parent.parent / "functions" / "api"
TOKEN = "a-token-of-sixteen-characters"

Serve = Callable[..., str]


@pytest.fixture(scope="package")
def browser() -> Iterator[Browser]:
    """The browser of this machine, for the length of these tests."""
    with chromium() as opened:
        yield opened


@pytest.fixture
def page(browser: Browser) -> Iterator[Page]:
    """A page that fails the test after a script error or a violation of its content security policy."""
    faults: list[str] = []
    with browser.new_context(viewport={"width": 1280, "height": 900}) as context:
        opened = context.new_page()
        opened.on("pageerror", lambda error: faults.append(str(error)))
        opened.on(
            "console",
            lambda message: faults.append(message.text) if "Content Security" in message.text else None,
        )
        opened.set_default_timeout(20_000)
        expect.set_options(timeout=20_000)
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
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
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
                "-o",
                os.devnull,
                f"http://127.0.0.1:{port}/health",
            ],
            check=True,
        )
        yield f"http://127.0.0.1:{port}"
        served.communicate()


@pytest.fixture
def db(direct_database: servers.Database) -> Iterator[Database]:
    with closing(Database(direct_database.url)) as opened:
        yield opened
