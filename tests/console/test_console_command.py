"""`minutehand console`: the console on the loopback, with a session instead of a token."""

import os
import re
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from urllib.error import HTTPError
from urllib.parse import urlsplit
from urllib.request import Request, urlopen
from uuid import uuid4

import psycopg
from playwright.sync_api import Page, expect

from minutehand import Database, enqueue
from tests import servers

SECONDS = 90


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


@contextmanager
def console(url: str, *arguments: str, logs: str = "") -> Iterator[str]:
    """Run the command until its end with Ctrl-C; yield the address that it prints. `logs` is in its errors."""
    command = [sys.executable, "-m", "minutehand", "console", "--port", str(free_port()), *arguments]
    with subprocess.Popen(
        command,
        env={**os.environ, "DATABASE_URL": url},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        assert process.stdout
        yield process.stdout.readline().strip()
        process.send_signal(signal.SIGINT)
        _, errors = process.communicate(timeout=SECONDS)
    printed, _, logged = errors.partition("\n")
    assert (process.returncode, printed) == (0, "The address is valid until Ctrl-C.")
    assert logs in logged if logs else not logged


def status(address: str, path: str, **headers: str) -> int:
    try:
        with urlopen(Request(address.partition("/console")[0] + path, headers=headers)) as answer:
            return int(answer.status)
    except HTTPError as refused:
        refused.close()
        return refused.code


def test_address_signs_the_operator_in(page: Page, direct_database: servers.Database, db: Database) -> None:
    enqueue("mail.send", connection=db)
    with console(direct_database.url) as address:
        assert re.fullmatch(r"http://127\.0\.0\.1:\d+/console#session=[\w-]{43}", address)
        page.goto(address)
        page.get_by_role("link", name="Jobs", exact=True).click()
        expect(page.locator("tbody tr")).to_contain_text("mail.send")
        expect(page.get_by_role("button", name="Enqueue a job")).to_be_visible()
        expect(page.locator(".caller")).not_to_be_empty()
        assert "#" not in page.url

        bearer = {"Authorization": f"Bearer {address.partition('=')[2]}"}
        assert status(address, "/jobs", **bearer) == 200
        assert status(address, "/jobs") == 401
        assert status(address, "/jobs", **bearer, Host="rebound.example") == 403
        assert status(address, "/console", Host="rebound.example") == 403
        assert status(address, "/jobs", **bearer, Origin="http://rebound.example") == 403
    page.keyboard.press("r")
    expect(page.get_by_role("alert").first).to_contain_text("cannot be reached")


def test_read_only_console_offers_no_changes(
    page: Page, direct_database: servers.Database, db: Database
) -> None:
    enqueue("mail.send", connection=db)
    with console(direct_database.url, "--read-only", "--tenant", "shop") as address:
        page.goto(address.replace("#", "/jobs#"))

        expect(page.locator(".caller")).to_contain_text("shop · read-only")
        expect(page.get_by_role("button", name="Enqueue a job")).to_have_count(0)
        expect(page.locator(".empty")).to_be_visible()


def test_missing_privilege_is_printed(direct_database: servers.Database) -> None:
    role = f"outsider_{uuid4().hex}"
    url = urlsplit(direct_database.admin_url)
    stranger = url._replace(netloc=f"{role}:secret@{url.hostname}:{url.port}").geturl()
    with psycopg.connect(direct_database.admin_url, autocommit=True) as connection:
        connection.execute(f"create role {role} login password 'secret'")
        try:
            connection.execute(f"grant minutehand_enqueuer to {role}")
            with console(stranger, logs="permission denied") as address:
                bearer = {"Authorization": f"Bearer {address.partition('=')[2]}"}
                assert status(address, "/jobs", **bearer) == 403
        finally:
            connection.execute(f"drop role {role}")
