"""Shared fixtures of the route tests: applications on real servers, and a worker that delivers to them."""

import base64
import json
import sys
import threading
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from socketserver import ThreadingMixIn
from typing import Any
from uuid import UUID
from wsgiref.simple_server import WSGIRequestHandler, WSGIServer, make_server

import fastapi
import flask
import pytest
import uvicorn
from starlette.applications import Starlette

from minutehand import Database
from minutehand.handlers import HandlerPackage
from minutehand.model.row import Row
from minutehand.queries.jobs import get
from minutehand.web import asgi, wsgi
from minutehand.web.delivery.fallback import deliver_if_routed
from minutehand.web.routes import Route
from minutehand.work import work
from tests.servers import Database as Address

sys.path.insert(0, str(Path(__file__).parents[2] / "functions" / "worker"))

SECRET = "whsec_" + base64.b64encode(b"a secret of thirty-two bytes, no").decode()
OLD_SECRET = "whsec_" + base64.b64encode(b"the one that was used before it.").decode()
PATH = "/queues/emails"
Serve = Callable[[Any], Any]


@dataclass(frozen=True)
class App:
    """An application that serves a route, its queue and its worker."""

    route: Route
    database: Database
    origin: str

    @property
    def url(self) -> str:
        return self.origin + PATH

    def work(self) -> None:
        """Run a worker until no job is due."""
        handlers = HandlerPackage("handlers", deliver_if_routed)
        work(self.database, handlers, threading.Event(), queues=self.route.queue, drain=True)

    def enqueue(self, kind: str = "welcome", payload: Any = None, **options: Any) -> UUID:
        return self.route.enqueue(kind, payload, connection=self.database, **options).id

    def row(self, job_id: UUID) -> Row:
        return get(self.database, job_id)

    def worked(self, kind: str = "welcome", payload: Any = None, **options: Any) -> Row:
        """Enqueue a job, run a worker, and return the row of the job."""
        job_id = self.enqueue(kind, payload, **options)
        self.work()
        return self.row(job_id)

    def post(
        self, body: bytes | dict[str, Any], method: str = "POST", **headers: str
    ) -> tuple[int, dict[str, Any]]:
        """Post to the route without a worker."""
        data = body if isinstance(body, bytes) else json.dumps(body).encode()
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        request = urllib.request.Request(self.url, data, named, method=method)
        try:
            with urllib.request.urlopen(request, timeout=20) as answer:
                return answer.status, json.load(answer)
        except urllib.error.HTTPError as error:
            return error.code, json.load(error)


@contextmanager
def serving_asgi(app: Any) -> Iterator[str]:
    server = uvicorn.Server(uvicorn.Config(app, port=0, log_level="critical", lifespan="off"))
    started = threading.Event()
    startup = server.startup

    async def starting(*args: Any, **options: Any) -> None:
        await startup(*args, **options)
        started.set()

    server.startup = starting  # type: ignore[method-assign]
    thread = threading.Thread(target=server.run)
    thread.start()
    try:
        assert started.wait(20)
        yield f"http://127.0.0.1:{server.servers[0].sockets[0].getsockname()[1]}"
    finally:
        server.should_exit = True
        thread.join(20)


class _Quiet(WSGIRequestHandler):
    def log_message(self, *_: Any) -> None:
        pass


class _Server(ThreadingMixIn, WSGIServer):
    daemon_threads = True


@contextmanager
def serving_wsgi(app: Any) -> Iterator[str]:
    with make_server("127.0.0.1", 0, app, _Server, _Quiet) as server:
        thread = threading.Thread(target=server.serve_forever, args=[0.01])
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_port}"
        finally:
            server.shutdown()
            thread.join(20)


def on_fastapi(route: Route) -> Any:
    app = fastapi.FastAPI()
    app.add_route(PATH, asgi.receiver(route), methods=["POST", "GET"])  # type: ignore[arg-type] # an application is one, too
    return serving_asgi(app)


def on_starlette_mounted(route: Route) -> Any:
    app = Starlette()
    app.mount(PATH.removesuffix("/emails"), asgi.receiver(route))
    return serving_asgi(app)


def on_bare_asgi(route: Route) -> Any:
    return serving_asgi(asgi.receiver(route))


def on_flask(route: Route) -> Any:
    from werkzeug.middleware.dispatcher import DispatcherMiddleware

    app = flask.Flask("shop")
    app.wsgi_app = DispatcherMiddleware(app.wsgi_app, {PATH: wsgi.receiver(route)})  # type: ignore[method-assign]
    return serving_wsgi(app)


def on_bare_wsgi(route: Route) -> Any:
    return serving_wsgi(wsgi.receiver(route))


APPLICATIONS: dict[str, Serve] = {
    "fastapi": on_fastapi,
    "starlette, mounted": on_starlette_mounted,
    "bare asgi": on_bare_asgi,
    "flask": on_flask,
    "bare wsgi": on_bare_wsgi,
}


@pytest.fixture
def setting(monkeypatch: pytest.MonkeyPatch) -> pytest.MonkeyPatch:
    for name in ("MINUTEHAND_LOCAL", "MINUTEHAND_HTTP_UNSIGNED", "MINUTEHAND_ENCRYPTION_KEY"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("MINUTEHAND_HTTP_ALLOW", "127.0.0.1")
    monkeypatch.setenv("MINUTEHAND_HTTP_SECRETS", SECRET)
    return monkeypatch


@contextmanager
def running(serve: Serve, database: Database, **options: Any) -> Iterator[App]:
    route = Route("emails", "", **options)
    with serve(route) as origin:
        route.url = origin + PATH
        yield App(route, database, origin)


@pytest.fixture(params=[*APPLICATIONS])
def app(
    request: pytest.FixtureRequest, direct_database: Address, setting: pytest.MonkeyPatch
) -> Iterator[App]:
    """Each application."""
    with (
        closing(Database(direct_database.url)) as database,
        running(APPLICATIONS[request.param], database) as app,
    ):
        yield app


@pytest.fixture(params=["fastapi", "flask"])
def either(
    request: pytest.FixtureRequest, direct_database: Address, setting: pytest.MonkeyPatch
) -> Iterator[App]:
    """One ASGI and one WSGI application."""
    with (
        closing(Database(direct_database.url)) as database,
        running(APPLICATIONS[request.param], database) as app,
    ):
        yield app
