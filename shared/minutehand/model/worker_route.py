"""Worker route: the worker function for a job, by its kind or queue."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from fnmatch import fnmatchcase

from minutehand.errors import ConfigurationError

SUBJECTS = ("queue", "kind")


@dataclass(frozen=True)
class Route:
    """Jobs whose queue or kind (`subject`) matches a pattern go to the function of this name or ARN."""

    subject: str
    pattern: str
    worker: str


@dataclass(frozen=True)
class Routes:
    """The routes, of which the first match wins, and the worker for all other jobs."""

    default: str = ""
    routes: tuple[Route, ...] = ()

    def worker(self, queue: str, kind: str) -> str:
        """Return the function to invoke for a job."""
        subjects = {"queue": queue, "kind": kind}
        matches = (r.worker for r in self.routes if fnmatchcase(subjects[r.subject], r.pattern))
        return next(matches, self.default)

    @property
    def workers(self) -> tuple[str, ...]:
        """All functions that jobs are routed to, without duplicates."""
        return tuple(dict.fromkeys(filter(None, [self.default, *(route.worker for route in self.routes)])))


def read_routes(environment: Mapping[str, str]) -> Routes:
    """Read MINUTEHAND_WORKER and MINUTEHAND_WORKERS, such as `{"queue:reports": name, "kind:invoice.*": name}`."""
    default, text = environment.get("MINUTEHAND_WORKER", ""), environment.get("MINUTEHAND_WORKERS") or "{}"
    try:
        routes = tuple(_route(key, worker) for key, worker in json.loads(text).items())
    except (ValueError, AttributeError) as error:
        raise ConfigurationError(
            'MINUTEHAND_WORKERS must be a JSON object such as {"queue:reports": "a-function", "kind:invoice.*": '
            f'"another"}}: {error}'
        ) from None
    return Routes(default, routes)


def _route(key: str, worker: object) -> Route:
    subject, _, pattern = key.partition(":")
    if subject not in SUBJECTS or not pattern:
        raise ValueError(f"key must be queue:<pattern> or kind:<pattern>, got {key!r}")
    if not isinstance(worker, str) or not worker:
        raise ValueError(f"{key!r} must name a function")
    return Route(subject, pattern, worker)
