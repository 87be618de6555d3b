"""Each invocation of a function sends few statements and waits for the database as often, from a cold start."""

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from proving import Post
from wire import Wire

from minutehand import Database, enqueue
from minutehand.database import close_thread_databases
from minutehand.functions import dispatcher, worker
from minutehand.functions.api import app as api
from minutehand.functions.api import dependencies
from tests import servers

# The most statements of an invocation, transactions included, and the most round trips.
MOST = {
    "idle tick": (21, 21),
    "busy tick": (21, 21),
    # A claim, the outcomes, the take that looks for the next job in the slots, and once a minute the time of the kind.
    "worker, 1 job": (4, 4),
    "worker, 10 jobs": (4, 4),
    "POST /jobs": (1, 1),
    "GET /jobs/{id}": (1, 1),
}
TOKEN = "a-token-for-the-examples"
HANDLERS = Path(__file__).parents[2] / "functions" / "worker"
CONTEXT = SimpleNamespace(
    function_name="f",
    memory_limit_in_mb=512,
    invoked_function_arn="arn:aws:lambda:eu-central-1:1:function:f",
    aws_request_id="1",
    function_version="1",
    get_remaining_time_in_millis=lambda: 60_000,
)
Measure = Callable[[str, Callable[[], Any]], Any]


@pytest.fixture
def db(direct_database: servers.Database) -> Iterator[Database]:
    database = Database(direct_database.url)
    yield database
    database.close()


@pytest.fixture
def measure(direct_database: servers.Database, monkeypatch: pytest.MonkeyPatch) -> Iterator[Measure]:
    """Call a function in a new execution environment, and compare its statements with the limit."""
    with Wire(direct_database.url) as wire:
        monkeypatch.syspath_prepend(HANDLERS)
        monkeypatch.setenv("DATABASE_URL", wire.url)
        monkeypatch.setenv("MINUTEHAND_WORKER", "worker")
        monkeypatch.setenv("MINUTEHAND_API_TOKENS", TOKEN)

        def measured(name: str, call: Callable[[], Any]) -> Any:
            disconnect()
            wire.statements.clear()
            wire.runs = wire.waits = 0
            result = call()
            most_runs, most_waits = MOST[name]
            assert wire.runs <= most_runs, [each.text.splitlines()[0] for each in wire.statements]
            assert wire.waits <= most_waits
            return result

        yield measured
        disconnect()


def disconnect() -> None:
    """Close the connections of the functions, as in a new execution environment."""
    close_thread_databases()
    for database in dependencies._idle.queue:
        database.close()


def ticked(monkeypatch: pytest.MonkeyPatch, chunk: int = 1) -> list[dict[str, Any]]:
    """Run the dispatcher, and return the events for the workers."""
    post = Post()
    monkeypatch.setattr(dispatcher, "invoker", post)
    monkeypatch.setenv("MINUTEHAND_CHUNK", str(chunk))
    dispatcher.handler({}, CONTEXT)
    return post.events


def test_tick_sends_few_statements(db: Database, measure: Measure, monkeypatch: pytest.MonkeyPatch) -> None:
    ticked(monkeypatch)
    measure("idle tick", lambda: ticked(monkeypatch))
    for n in range(20):
        enqueue("echo", n, connection=db)
    assert len(measure("busy tick", lambda: ticked(monkeypatch))) == 20


@pytest.mark.parametrize("chunk", [1, 10])
def test_worker_sends_few_statements(
    db: Database, measure: Measure, monkeypatch: pytest.MonkeyPatch, chunk: int
) -> None:
    for n in range(chunk):
        enqueue("echo", n, connection=db)
    (event,) = ticked(monkeypatch, chunk)
    # A busy machine does not finish the chunk before its group of outcomes is due.
    monkeypatch.setattr("minutehand.attempts.group.SECONDS", 60.0)

    name = f"worker, {chunk} job{'s' if chunk > 1 else ''}"
    assert measure(name, lambda: worker.handler(event, CONTEXT)) == {"done": chunk}


def test_request_sends_few_statements(measure: Measure) -> None:
    created = measure("POST /jobs", lambda: requested("POST", "/jobs", {"kind": "echo"}))
    found = measure("GET /jobs/{id}", lambda: requested("GET", f"/jobs/{created['id']}"))

    assert found["kind"] == "echo"


def requested(method: str, path: str, body: object = None) -> Any:
    """Send a request through the handler, as an HTTP API does."""
    event = {
        "version": "2.0",
        "rawPath": path,
        "rawQueryString": "",
        "headers": {"authorization": f"Bearer {TOKEN}", "content-type": "application/json"},
        "requestContext": {"http": {"method": method, "path": path, "sourceIp": "127.0.0.1"}},
        "body": None if body is None else json.dumps(body),
        "isBase64Encoded": False,
    }
    answer = api.handler(event, CONTEXT)
    assert answer["statusCode"] < 300, answer
    return json.loads(answer["body"])
