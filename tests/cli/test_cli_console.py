"""`minutehand console`: what it refuses, and how it names the caller and opens a browser."""

import os
import socket
import webbrowser
from pathlib import Path
from urllib.parse import urlparse

import psycopg
import pytest

from minutehand.cli.sleeping import CONSOLE, WARNING
from minutehand.local import console
from minutehand.local.errors import PortForbiddenError
from minutehand.local.home import listen

# The lowest port that every user may listen on.
LOW = Path("/proc/sys/net/ipv4/ip_unprivileged_port_start")


@pytest.fixture
def unprivileged():
    """Run the test as another user, if it runs as root."""
    user = os.geteuid()
    if user == 0:
        os.seteuid(65534)
    yield
    os.seteuid(user)


def test_port_in_use_is_refused(execute, direct_database):
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = str(taken.getsockname()[1])
        ended = execute("console", "--port", port, url=direct_database.url)

    assert ended.returncode == 5
    assert f"port {port} is in use; choose another with --port".encode() in ended.stderr


def test_console_warns_that_its_changes_request_no_tick(execute, direct_database):
    with psycopg.connect(direct_database.url) as connection:
        connection.execute("update minutehand.dispatcher set mode = 'sleep'")
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = str(taken.getsockname()[1])
        allowed = execute("console", "--port", port, url=direct_database.url)
        read_only = execute("console", "--port", port, "--read-only", url=direct_database.url)

    assert WARNING.format(subject=CONSOLE).encode() in allowed.stderr
    assert b"mode sleep" not in read_only.stderr


@pytest.mark.skipif(not LOW.exists() or int(LOW.read_text()) <= 80, reason="every user may listen on port 80")
def test_port_without_permission_is_refused(unprivileged):
    with pytest.raises(
        PortForbiddenError, match=r"permission denied for port 80: .* from 1024 to 65535 with --port"
    ):
        listen(80)


def test_unreachable_database_is_reported_before_a_page_is_served(execute):
    ended = execute("console", url="postgresql://ada:s3cret@127.0.0.1:1/jobs")

    assert ended.returncode == 3
    assert b"s3cret" not in ended.stdout + ended.stderr


@pytest.mark.parametrize(
    ("actor", "tenant", "read_only", "owner"),
    [
        ("ada", None, False, "ada"),
        ("ada", "shop", True, "ada@shop+read"),
        ("CORP\\ada lovelace", None, True, "CORPadalovelace+read"),
        (None, None, False, "console"),
        ("-_.", "shop", False, "console@shop"),
    ],
)
def test_session_has_a_name_a_tenant_and_a_role(actor, tenant, read_only, owner):
    assert console.owner_of(actor, tenant, read_only=read_only) == owner


def test_browser_opens_the_address_through_a_private_file(monkeypatch):
    """Other users of the machine can see the arguments of a browser's process."""
    opened = []
    monkeypatch.setattr(webbrowser, "open", opened.append)
    with console.open_browser("http://127.0.0.1:8090/console#session=a-secret"):
        page = Path(urlparse(opened[0]).path)
        assert "a-secret" not in opened[0]
        assert "#session=a-secret" in page.read_text()
        assert page.parent.stat().st_mode & 0o077 == 0

    assert not page.parent.exists()
