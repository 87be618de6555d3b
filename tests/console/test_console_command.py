"""`minutehand console`: the console on the loopback, with a session instead of a token."""

import os
import re
import signal
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
from tests.console.conftest import serving
from tests.ports import free_port
from tests.watchdog import line, watched

SECONDS = 180
CHANGES = re.compile("^(Enqueue|Cancel|Pause|Resume|Retry|Run now|Edit|Add|Reschedule|Replay)")


@contextmanager
def console(url: str, *arguments: str, logs: str = "") -> Iterator[str]:
    """Run the command until its end with Ctrl-C; yield the address that it prints. `logs` is in its errors."""
    command = [sys.executable, "-m", "minutehand", "console", "--port", str(free_port()), *arguments]
    with watched(
        subprocess.Popen(
            command,
            env={**os.environ, "DATABASE_URL": url},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        ),
        seconds=500,
    ) as process:
        yield line(process).strip()
        process.send_signal(signal.SIGINT)
        _, errors = process.communicate(timeout=SECONDS)
    printed, _, logged = errors.partition("\n")
    assert (process.returncode, printed) == (0, "The address is valid until Ctrl-C.")
    assert logs in logged if logs else not logged


def status(address: str, path: str, method: str = "GET", **headers: str) -> int:
    given = {name.replace("_", "-"): value for name, value in headers.items()}
    body = b"{}" if method == "POST" else None
    request = Request(address.partition("/console")[0] + path, body, given, method=method)
    try:
        with urlopen(request, timeout=60) as answer:
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


def test_browser_without_the_session_is_sent_to_the_address(
    page: Page, direct_database: servers.Database
) -> None:
    with console(direct_database.url) as address:
        page.goto(address.partition("#")[0])
        expect(page.get_by_role("dialog")).to_contain_text("open the address that this command printed")


def test_read_only_console_offers_no_changes(
    page: Page, direct_database: servers.Database, db: Database
) -> None:
    enqueue("mail.send", connection=db)
    with console(direct_database.url, "--read-only", "--tenant", "shop") as address:
        page.goto(address.replace("#", "/jobs#"))

        expect(page.locator(".caller")).to_contain_text("shop · read-only")
        expect(page.get_by_role("button", name="Enqueue a job")).to_have_count(0)
        expect(page.locator(".empty")).to_be_visible()


@contextmanager
def member(database: servers.Database, group: str) -> Iterator[str]:
    """Yield the URL of a new login in a group."""
    role = f"member_{uuid4().hex}"
    url = urlsplit(database.admin_url)
    with psycopg.connect(database.admin_url, autocommit=True) as connection:
        connection.execute(f"create role {role} login password 'secret' in role {group}")
        yield url._replace(netloc=f"{role}:secret@{url.hostname}:{url.port}").geturl()
        connection.execute(f"drop role {role}")


def test_missing_privilege_is_printed(direct_database: servers.Database) -> None:
    with (
        member(direct_database, "minutehand_enqueuer") as url,
        console(url, logs="permission denied") as address,
    ):
        bearer = {"Authorization": f"Bearer {address.partition('=')[2]}"}
        assert status(address, "/jobs", **bearer) == 403


def test_login_that_reads_is_offered_no_changes(
    page: Page, direct_database: servers.Database, db: Database
) -> None:
    job = enqueue("mail.send", {"to": "ada"}, queue="mail", connection=db).id
    with member(direct_database, "minutehand_reader") as url:
        with console(url) as address:
            for path in (
                "",
                f"/jobs/{job}",
                "/queues",
                "/failures",
                "/schedules",
                "/batches",
                "/audit",
                "/system",
            ):
                page.goto(address.replace("#", f"{path}#"))
                expect(page.get_by_role("heading", level=1)).to_be_visible()
                expect(page.locator(".caller")).to_contain_text("read-only")
                expect(page.locator(".skeleton")).to_have_count(0)
                expect(page.get_by_role("alert")).to_have_count(0)
                expect(page.get_by_role("button", name=CHANGES)).to_have_count(0)
            bearer = {"Authorization": f"Bearer {address.partition('=')[2]}"}
            assert (
                status(address, f"/jobs/{job}/cancel", "POST", Content_Type="application/json", **bearer)
                == 403
            )
        with serving(url, {"MINUTEHAND_LOCAL": "1"}) as api:
            assert status(api, f"/jobs/{job}/cancel", "POST", Content_Type="application/json") == 403
            page.goto(f"{api}/console/jobs")
            expect(page.locator("tbody tr")).to_contain_text("mail.send")
            expect(page.get_by_role("button", name="Enqueue a job")).to_have_count(0)
