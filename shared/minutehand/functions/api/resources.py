"""Resources: the routers by the first segment of their paths, imported with the first request for one of them.

A router creates models and routes, which takes as long as the import of FastAPI. Few processes serve all of them.
"""

from importlib import import_module
from threading import Lock

from fastapi import FastAPI
from starlette.types import ASGIApp, Receive, Scope, Send

ROUTERS = "minutehand.functions.api.routers"
# In the order of the documented schema.
RESOURCES = {
    "jobs": ("enqueue", "search", "jobs", "bulk", "history", "why"),
    "failures": ("search",),
    "batches": ("batches",),
    "audit": ("history",),
    "queues": ("queues", "why"),
    "retention": ("retention",),
    "stats": ("statistics", "attention"),
    "attention": ("attention",),
    "me": ("attention",),
    "controls": ("controls",),
    "schedules": ("schedules",),
    "system": ("system",),
    "cost": ("cost",),
    "health": ("health",),
    "console": ("console",),
    "": ("console",),
}


class Resources:
    """Adds routers to an application, each once."""

    def __init__(self, app: FastAPI) -> None:
        """Add nothing yet."""
        self._app = app
        self._added: set[str] = set()
        self._lock = Lock()

    def add(self, segment: str) -> None:
        """Add the routers of the paths that begin with a segment, if there are any."""
        if RESOURCES.get(segment, ()) and not self._added.issuperset(RESOURCES[segment]):
            with self._lock:
                for name in RESOURCES[segment]:
                    self._add_router(name)

    def add_all(self) -> None:
        """Add all routers."""
        for segment in RESOURCES:
            self.add(segment)

    def _add_router(self, name: str) -> None:
        if name not in self._added:
            self._app.include_router(import_module(f"{ROUTERS}.{name}").router)
            self._added.add(name)


class AddRouters:
    """The innermost middleware: it adds the routers for a request's path before the path is looked up."""

    def __init__(self, app: ASGIApp, resources: Resources) -> None:
        """Wrap an application."""
        self._app, self._resources = app, resources

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on."""
        if scope["type"] == "http":
            path = scope["path"].removeprefix(scope.get("root_path", ""))
            self._resources.add(path.removeprefix("/").partition("/")[0])
        await self._app(scope, receive, send)
