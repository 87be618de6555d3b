"""The whole flow in two places: the functions in this process, and the built functions in the emulator."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta
from pathlib import Path
from types import ModuleType
from typing import Any, Protocol
from uuid import UUID

import pytest

from emulator import Clock, Emulator, Hooks, WellBehaved
from minutehand import Database, enqueue
from minutehand.functions.api import app, dependencies
from minutehand.model.row import Row
from minutehand.queries.jobs import get
from tests import servers
from tests.functions.fleet import WORKER, Fleet, LambdaContext, event

ROOT = Path(__file__).parents[2]
TOKEN = "a-token-for-the-examples"
MINUTE = 60.0

__all__ = ["Emulated", "Flow", "Home", "InProcess", "emulated", "event"]


class Home(Protocol):
    """The place where the functions run."""

    def request(self, request: dict[str, Any]) -> dict[str, Any]:
        """Send an HTTP API request to the API."""

    def tick(self, event: dict[str, Any]) -> None:
        """Run a tick and everything that follows from it."""


class InProcess:
    """The functions in this process. Invocations of the dispatcher are delivered to the worker."""

    def __init__(self, fleet: Fleet, api: ModuleType) -> None:
        self._fleet, self._api = fleet, api

    def request(self, request: dict[str, Any]) -> dict[str, Any]:
        context = LambdaContext("minutehand-api", timedelta(seconds=29))
        answer: dict[str, Any] = self._api.handler(request, context)
        return answer

    def tick(self, event: dict[str, Any]) -> None:
        self._fleet.tick(event)
        while self._fleet.aws.events:
            self._fleet.work(self._fleet.aws.events.pop(0))


class Emulated:
    """The built functions in the emulator, one process for each environment."""

    def __init__(self, lambda_: Emulator, output: list[tuple[str, str]]) -> None:
        self.lambda_, self.output = lambda_, output

    def request(self, request: dict[str, Any]) -> dict[str, Any]:
        answer = self.lambda_.invoke("ApiFunction", request)
        assert answer.error is None, answer.payload
        response: dict[str, Any] = answer.json()
        return response

    def tick(self, event: dict[str, Any]) -> None:
        self.lambda_.send("DispatcherFunction", event)
        self.lambda_.pass_time(MINUTE)
        assert self.lambda_.failures == []

    def lines(self, function: str) -> Iterator[dict[str, Any]]:
        """Yield the structured log lines of a function."""
        for name, line in self.output:
            if name == function and line.startswith("{"):
                yield json.loads(line)


class Flow:
    """A database and the functions that use it."""

    def __init__(self, database: servers.Database, home: Home) -> None:
        self.address, self.home = database, home
        self.database = Database(database.url)
        self._admin = Database(database.admin_url)

    def close(self) -> None:
        self.database.close()
        self._admin.close()

    def enqueue(self, kind: str = "echo", payload: object = None, **options: Any) -> UUID:
        return enqueue(kind, payload, connection=self.database, **options).id

    def row(self, job_id: object) -> Row:
        return get(self.database, UUID(str(job_id)))

    def sql(self, text: str, **parameters: object) -> list[tuple[Any, ...]]:
        """Run a statement on the server, without the pooler."""
        cursor = self._admin.connection.execute(text, parameters or None)  # type: ignore[arg-type]
        return cursor.fetchall() if cursor.description else []

    def pass_time(self, seconds: float) -> None:
        """Move all times in the database into the past."""
        for text in EARLIER:
            self.sql(text, by=f"{seconds} seconds")


EARLIER = (
    """update minutehand.jobs_live
          set visible = visible - %(by)s::interval,
              offered = offered - %(by)s::interval, claimed = claimed - %(by)s::interval""",
    # On its own, so that no trigger takes this for a job that was moved.
    "update minutehand.jobs_live set run_at = run_at - %(by)s::interval",
    "update minutehand.lanes set floor = floor - %(by)s::interval, emptied = emptied - %(by)s::interval",
    "update minutehand.lane_changes set visible = visible - %(by)s::interval",
    """update minutehand.dispatcher
          set ticked = ticked - %(by)s::interval, since = since - %(by)s::interval,
              swept = swept - %(by)s::interval, settled = settled - %(by)s::interval,
              marked = marked - %(by)s::interval, counted = counted - %(by)s::interval,
              busy_since = busy_since - %(by)s::interval""",
    "update minutehand.budgets set lapsed = lapsed - %(by)s::interval",
    "update minutehand.waiting set until = until - %(by)s::interval, scheduled = scheduled - %(by)s::interval",
)


@contextmanager
def emulated(
    url: str,
    *,
    hooks: Hooks | None = None,
    clock: Clock | None = None,
    concurrency: int = 4,
    parameters: dict[str, str] | None = None,
    environment: dict[str, Any] | None = None,
) -> Iterator[Emulated]:
    """Run the stack's functions in the emulator, with a database."""
    output: list[tuple[str, str]] = []
    with Emulator(
        ROOT / "template.yaml",
        environment=reach(url) | (environment or {}),
        parameters=parameters or {},
        concurrency=concurrency,
        hooks=hooks or WellBehaved(),
        clock=clock or Clock(speed=0),
        cache=ROOT / ".emulator",
        log=lambda function, line: output.append((function, line)),
    ) as lambda_:
        yield Emulated(lambda_, output)


def reach(url: str) -> dict[str, str]:
    """Return the environment that the template does not set."""
    return {
        "DATABASE_URL": url,
        # A busy machine may take longer than the default. An invocation that cannot connect fails, and its job stays
        # offered until the offer expires.
        "MINUTEHAND_CONNECT_TIMEOUT": "60",
        "MINUTEHAND_DATABASE_SECRET": "",
        "MINUTEHAND_DATABASE_TLS": "",
        "MINUTEHAND_API_TOKENS": TOKEN,
        "MINUTEHAND_API_TOKENS_SECRET": "",
    }


@contextmanager
def in_process(
    database: servers.Database, patch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Iterator[InProcess]:
    """Load the functions as tests/functions and tests/api do."""
    for name, value in reach(database.url).items():
        patch.setenv(name, value)
    patch.setenv("MINUTEHAND_WORKER", WORKER)
    patch.syspath_prepend(str(ROOT / "functions" / "worker"))
    fleet = Fleet(database.url, database.admin_url, capsys)
    fleet.aws.install(patch)
    yield InProcess(fleet, app)
    fleet.close()
    for idle in dependencies._idle.queue:
        idle.close()
