"""`minutehand tick` invokes the worker function, here at an address that stands in for Lambda."""

import json
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Any

import pytest

from minutehand.waking import chain, invoking


class StandIn(ThreadingHTTPServer):
    """Record the events and respond like Lambda."""

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Answerer)
        self.events: list[tuple[str, Any]] = []
        self.status = 202


class Answerer(BaseHTTPRequestHandler):
    """Accept an invocation."""

    server: StandIn

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["content-length"]))
        self.server.events.append((self.path, json.loads(body)))
        self.send_response(self.server.status)
        self.send_header("content-length", "0")
        self.end_headers()

    def log_message(self, *_: object) -> None:
        pass


@pytest.fixture
def aws(monkeypatch: pytest.MonkeyPatch) -> Iterator[StandIn]:
    server = StandIn()
    Thread(target=server.serve_forever, daemon=True).start()
    for name, value in {
        "MINUTEHAND_WORKER": "the-worker",
        "AWS_ENDPOINT_URL_LAMBDA": f"http://127.0.0.1:{server.server_port}",
        "AWS_REGION": "eu-north-1",
        "AWS_DEFAULT_REGION": "eu-north-1",
        "AWS_ACCESS_KEY_ID": "x",
        "AWS_SECRET_ACCESS_KEY": "x",
    }.items():
        monkeypatch.setenv(name, value)
    yield server
    server.shutdown()
    server.server_close()


def test_tick_invokes_the_worker_for_each_due_job(execute, direct_database, aws):
    made = [execute("enqueue", "echo", "-o", "ids", url=direct_database.url) for _ in range(3)]
    ticked = execute("tick", url=direct_database.url)
    paths, events = zip(*aws.events, strict=True)

    assert (ticked.returncode, ticked.stderr) == (0, b"")
    assert ticked.stdout == b"3 jobs due, 3 offered, 3 invoked, 0 refused\n"
    assert {path for path in paths if "the-worker" in path} == set(paths)
    assert sorted(offer[0] for event in events for offer in event["offers"]) == sorted(
        each.stdout.decode().strip() for each in made
    )


def test_refused_invocation_is_reported_with_its_reason(execute, direct_database, aws):
    aws.status = 403
    execute("enqueue", "echo", url=direct_database.url)
    ticked = execute("tick", "-o", "json", url=direct_database.url)

    assert ticked.returncode == 1
    assert json.loads(ticked.stdout)["refused"] == 1
    assert b"an invocation was refused" in ticked.stderr


@pytest.fixture
def prompt(aws, monkeypatch: pytest.MonkeyPatch) -> Iterator[StandIn]:
    """Lambda in the mode `prompt`, without what other tests have left in this process."""
    monkeypatch.setenv("MINUTEHAND_MODE", "prompt")
    monkeypatch.setenv("MINUTEHAND_DISPATCHER", "the-dispatcher")
    monkeypatch.setattr(invoking, "_paused_until", 0.0)
    monkeypatch.setattr(chain, "_begun", 0)
    invoking._invoker.cache_clear()
    yield aws
    invoking._invoker.cache_clear()


def test_wake_in_the_mode_prompt_invokes_the_dispatcher(execute, direct_database, prompt):
    woken = execute("tick", "--wake", url=direct_database.url)

    assert (woken.returncode, woken.stderr.decode()) == (
        0,
        "The dispatcher is invoked, unless it waits already.\n",
    )
    assert ["the-dispatcher" in path for path, _ in prompt.events] == [True]


def test_wake_that_lambda_refuses_fails_with_one_reason(execute, direct_database, prompt):
    prompt.status = 403

    woken = execute("tick", "--wake", url=direct_database.url)

    (line,) = woken.stderr.decode().splitlines()
    assert woken.returncode == 1
    assert line.startswith("The dispatcher was not woken: jobs wait for the next tick, because ")


def test_wake_without_the_name_of_the_dispatcher_is_refused(
    execute, direct_database, prompt, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.delenv("MINUTEHAND_DISPATCHER")

    woken = execute("tick", "--wake", url=direct_database.url)

    assert woken.returncode == 2
    assert b"--wake requires MINUTEHAND_WORKER and MINUTEHAND_DISPATCHER" in woken.stderr
