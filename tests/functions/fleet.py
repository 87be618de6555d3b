"""The dispatcher and the worker in this process, with a stand-in for Lambda's Invoke call."""

import importlib.util
import json
import logging
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import timedelta
from functools import cached_property
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from time import monotonic
from types import ModuleType
from typing import Any, LiteralString
from urllib.parse import unquote
from uuid import UUID, uuid4

import pytest
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
    """A stand-in for Lambda's Invoke API: it records events, and rejects unknown functions."""

    def __init__(self) -> None:
        self.events: list[dict[str, Any]] = []
        self.invoked: list[str] = []
        self.known = {WORKER}
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), type("Handler", (_Requests,), {"aws": self}))
        Thread(target=self._server.serve_forever, args=[0.01], daemon=True).start()

    def install(self, patch: pytest.MonkeyPatch) -> None:
        patch.setenv("AWS_ENDPOINT_URL_LAMBDA", f"http://127.0.0.1:{self._server.server_port}")
        for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
            patch.setenv(name, "testing")
        patch.setenv("AWS_REGION", "eu-central-1")

    def close(self) -> None:
        self._server.shutdown()
        self._server.server_close()


class _Requests(BaseHTTPRequestHandler):
    aws: Lambda
    protocol_version = "HTTP/1.1"

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["content-length"]))
        function = re.search(r"/functions/([^/]+)/invocations$", unquote(self.path))
        if function is None or function[1] not in self.aws.known:
            self._answer(404, "ResourceNotFoundException", b'{"Message": "Function not found"}')
        elif self.headers["X-Amz-Invocation-Type"] == "DryRun":
            self._answer(204)
        else:
            assert self.headers["X-Amz-Invocation-Type"] == "Event"
            self.aws.invoked.append(function[1])
            self.aws.events.append(json.loads(body))
            self._answer(202)

    def _answer(self, status: int, error: str = "", body: bytes = b"") -> None:
        self.send_response(status)
        if error:
            self.send_header("x-amzn-errortype", error)
        if status != 204:
            self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        pass


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
        self.aws.close()
        self.database.close()
        self._admin.close()

    def tick(
        self, event: dict[str, Any] | None = None, left: timedelta = timedelta(minutes=5)
    ) -> dict[str, Any]:
        context = LambdaContext("minutehand-dispatcher", left)
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
