"""The dispatcher and the worker in this process, with a stand-in for Lambda's Invoke call."""

import importlib.util
import json
import logging
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import timedelta
from functools import cached_property
from io import BytesIO
from pathlib import Path
from time import monotonic
from types import ModuleType
from typing import Any, LiteralString
from urllib.parse import unquote
from uuid import UUID, uuid4

import boto3
import pytest
from botocore.awsrequest import AWSResponse
from psycopg.rows import dict_row

from minutehand import Database, enqueue
from minutehand.model.row import Row
from minutehand.queries.jobs import get

ROOT = Path(__file__).parents[2]
WORKER = "arn:aws:lambda:eu-central-1:123456789012:function:minutehand-worker"


def event(name: str) -> dict[str, Any]:
    """Return one of the events in `events/`."""
    event: dict[str, Any] = json.loads((ROOT / "events" / f"{name}.json").read_text("utf-8"))
    return event


def load(function: str) -> ModuleType:
    """Import a function's module under a new name, with a logger that no other test has configured."""
    logging.root.manager.loggerDict.pop(function, None)
    spec = importlib.util.spec_from_file_location(
        f"{function}_{uuid4().hex}", ROOT / "shared" / "minutehand" / "functions" / f"{function}.py"
    )
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@dataclass
class LambdaContext:
    """The context that Lambda passes with an event."""

    function_name: str
    left: timedelta
    began: float = field(default_factory=monotonic)
    aws_request_id: str = field(default_factory=lambda: str(uuid4()))
    memory_limit_in_mb: int = 512
    function_version: str = "$LATEST"
    invoked_function_arn: str = WORKER

    def get_remaining_time_in_millis(self) -> int:
        return max(0, round((self.began + self.left.total_seconds() - monotonic()) * 1000))


class Lambda:
    """A stand-in for Lambda's Invoke call: it records events, and rejects unknown functions."""

    def __init__(self) -> None:
        self.events: list[dict[str, Any]] = []
        self.invoked: list[str] = []
        self.known = {WORKER}

    def install(self, patch: pytest.MonkeyPatch) -> None:
        session: Any = boto3.Session("key", "secret", region_name="eu-central-1")
        session.events.register("before-send.lambda.Invoke", self.answer)
        patch.setattr(boto3, "DEFAULT_SESSION", session)

    def answer(self, request: Any, **_: object) -> AWSResponse:
        function = re.search(r"/functions/([^/]+)/invocations$", unquote(request.url))
        if function is None or function[1] not in self.known:
            return _answer(request, 404, b'{"Message": "Function not found"}', "ResourceNotFoundException")
        if request.headers["X-Amz-Invocation-Type"] in ("DryRun", b"DryRun"):
            return _answer(request, 204)
        assert request.headers["X-Amz-Invocation-Type"] in ("Event", b"Event")
        self.invoked.append(function[1])
        self.events.append(json.loads(request.body))
        return _answer(request, 202)


class Fleet:
    """Both functions with one database, their events and their output."""

    def __init__(self, url: str, admin_url: str, capsys: pytest.CaptureFixture[str]) -> None:
        self.database, self._admin, self._capsys = Database(url), Database(admin_url), capsys
        self.aws = Lambda()

    @cached_property
    def dispatcher(self) -> ModuleType:
        return load("dispatcher")

    @cached_property
    def worker(self) -> ModuleType:
        return load("worker")

    def close(self) -> None:
        self.database.close()
        self._admin.close()

    def tick(self, event: dict[str, Any] | None = None) -> dict[str, Any]:
        context = LambdaContext("minutehand-dispatcher", timedelta(seconds=30))
        response: dict[str, Any] = self.dispatcher.handler(event or {}, context)
        return response

    def work(self, event: dict[str, Any], left: timedelta = timedelta(minutes=1)) -> dict[str, int]:
        response: dict[str, int] = self.worker.handler(event, LambdaContext("minutehand-worker", left))
        return response

    def enqueue(self, kind: str = "echo", payload: object = None, **options: Any) -> UUID:
        return enqueue(kind, payload, connection=self.database, **options).id

    def row(self, job_id: UUID) -> Row:
        return get(self.database, job_id)

    def sql(self, text: LiteralString, **parameters: object) -> list[dict[str, Any]]:
        """Run a statement on the server, without the pooler."""
        with self._admin.connection.cursor(row_factory=dict_row) as cursor:
            cursor.execute(text, parameters or None)
            return cursor.fetchall() if cursor.description else []

    def offer(self, pairs: list[list[str]]) -> None:
        """Create offered jobs with the ids and acks of an event."""
        for job_id, ack in pairs:
            self.sql(
                """update minutehand.jobs_live
                      set id = %(job)s, ack = %(ack)s, offered = now(), visible = now() + interval '2 minutes'
                    where id = %(made)s""",
                job=job_id,
                ack=ack,
                made=self.enqueue(payload={"job": job_id}),
            )

    def lapse(self) -> None:
        """Let every offer and lease lapse."""
        self.sql(
            """update minutehand.jobs_live set run_at = run_at, visible = now() - interval '1 minute'
                where visible > now()"""
        )

    def read_output(self) -> str:
        """Return the output since the last call."""
        out, err = self._capsys.readouterr()
        return out + err


def lines(output: str) -> list[dict[str, Any]]:
    """Return the structured log lines of an output."""
    return [line for line in _parsed(output) if "_aws" not in line]


def metrics(output: str) -> list[dict[str, Any]]:
    """Return the metrics of an output by name, from lines in CloudWatch's embedded metric format."""
    return [_metrics(line) for line in _parsed(output) if "_aws" in line]


def _parsed(output: str) -> Iterator[dict[str, Any]]:
    for line in output.splitlines():
        yield json.loads(line)


def _metrics(line: dict[str, Any]) -> dict[str, Any]:
    (described,) = line["_aws"]["CloudWatchMetrics"]
    assert described["Namespace"] == "minutehand"
    assert described["Dimensions"] == [["service"]]
    return {metric["Name"]: line[metric["Name"]][0] for metric in described["Metrics"]}


def _answer(request: Any, status: int, body: bytes = b"", error: str = "") -> AWSResponse:
    headers: Any = {"x-amzn-errortype": error} if error else {}
    return AWSResponse(request.url, status, headers, _Body(body))


class _Body(BytesIO):
    """A response body in the form that botocore reads."""

    def stream(self, *_: object, **__: object) -> Iterator[bytes]:
        yield self.read()
