"""Worker routes: the worker function that serves a job, chosen by its kind or its queue."""

import json
from dataclasses import dataclass
from fnmatch import fnmatchcase

SUBJECTS = ("queue", "kind")
EXAMPLE = '{"queue:reports": "a-function", "kind:invoice.*": "another"}'


@dataclass(frozen=True)
class WorkerRoute:
    """Send jobs whose queue or kind (`subject`) matches a pattern to a function, given by its name or ARN."""

    subject: str
    pattern: str
    worker: str


@dataclass(frozen=True)
class WorkerRoutes:
    """The routes, of which the first match applies, and the worker of all other jobs."""

    default: str = ""
    routes: tuple[WorkerRoute, ...] = ()

    def worker(self, queue: str, kind: str) -> str:
        """Return the function to invoke for a job."""
        subjects = {"queue": queue, "kind": kind}
        matches = (r.worker for r in self.routes if fnmatchcase(subjects[r.subject], r.pattern))
        return next(matches, self.default)

    def kinds(self, worker: str, queue: str) -> dict[str, bool]:
        """Return which kinds of a queue a worker serves: patterns, of which the first match applies. Empty if all."""
        served: dict[str, bool] = {}
        for route in [*self.routes, WorkerRoute("queue", "*", self.default)]:
            if route.subject == "kind":
                served.setdefault(route.pattern, route.worker == worker)
            elif fnmatchcase(queue, route.pattern):
                served.setdefault("*", route.worker == worker)
                break
        return {} if all(served.values()) else served

    @property
    def workers(self) -> tuple[str, ...]:
        """All functions that a route leads to, without duplicates."""
        return tuple(dict.fromkeys(filter(None, [self.default, *(route.worker for route in self.routes)])))


def parse_worker_routes(text: str) -> tuple[WorkerRoute, ...]:
    """Parse a JSON object such as `{"queue:reports": name, "kind:invoice.*": name}`; raise ValueError otherwise."""
    routes = json.loads(text)
    if not isinstance(routes, dict):
        raise ValueError(f"expected an object, got {type(routes).__name__}")
    return tuple(_parse_route(key, worker) for key, worker in routes.items())


def _parse_route(key: str, worker: object) -> WorkerRoute:
    subject, _, pattern = key.partition(":")
    if subject not in SUBJECTS or not pattern:
        raise ValueError(f"{key!r} must be queue:<pattern> or kind:<pattern>")
    if not isinstance(worker, str) or not worker:
        raise ValueError(f"the value of {key!r} must be the name or ARN of a function")
    return WorkerRoute(subject, pattern, worker)
