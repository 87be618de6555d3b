"""Worker routes: which worker function serves a job."""

import json

import pytest

from minutehand import ConfigurationError
from minutehand.model.worker_route import WorkerRoutes
from minutehand.settings import read_worker_routes

ROUTES = {
    "kind:invoice.*": "invoices",
    "queue:reports": "reports",
    "kind:report.build": "builder",
    "queue:r*": "rest",
}


@pytest.fixture
def routes() -> WorkerRoutes:
    return read_worker_routes({"MINUTEHAND_WORKER": "default", "MINUTEHAND_WORKERS": json.dumps(ROUTES)})


@pytest.mark.parametrize(
    ("queue", "kind", "worker"),
    [
        ("default", "echo", "default"),
        ("reports", "echo", "reports"),
        ("reports", "invoice.send", "invoices"),
        ("reports", "report.build", "reports"),
        ("default", "report.build", "builder"),
        ("default", "Invoice.send", "default"),
        ("default", "invoice", "default"),
        ("refunds", "echo", "rest"),
    ],
)
def test_first_matching_route_applies(routes: WorkerRoutes, queue: str, kind: str, worker: str) -> None:
    assert routes.worker(queue, kind) == worker


@pytest.mark.parametrize(
    ("worker", "queue", "kinds"),
    [
        ("default", "default", {"invoice.*": False, "report.build": False, "*": True}),
        ("invoices", "default", {"invoice.*": True, "report.build": False, "*": False}),
        ("reports", "reports", {"invoice.*": False, "*": True}),
        ("builder", "refunds", {"invoice.*": False, "report.build": True, "*": False}),
    ],
)
def test_worker_serves_some_kinds_of_a_queue(
    routes: WorkerRoutes, worker: str, queue: str, kinds: dict[str, bool]
) -> None:
    assert routes.kinds(worker, queue) == kinds


def test_worker_without_routes_by_kind_serves_all_kinds() -> None:
    routes = read_worker_routes({"MINUTEHAND_WORKER": "a", "MINUTEHAND_WORKERS": '{"queue:reports": "b"}'})

    assert routes.kinds("a", "default") == routes.kinds("b", "reports") == {}


def test_workers_contains_each_function_once() -> None:
    routes = read_worker_routes(
        {"MINUTEHAND_WORKER": "a", "MINUTEHAND_WORKERS": '{"queue:x": "b", "queue:y": "a"}'}
    )

    assert routes.workers == ("a", "b")
    assert read_worker_routes({}).workers == ()


@pytest.mark.parametrize("text", ["", "{}"])
def test_without_routes_the_default_worker_serves_all_jobs(text: str) -> None:
    routes = read_worker_routes({"MINUTEHAND_WORKER": "w", "MINUTEHAND_WORKERS": text})

    assert routes.worker("any", "any") == "w"


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("[]", "expected an object, got list"),
        ("queue:reports=x", "Expecting value"),
        ('{"reports": "x"}', "'reports' must be queue:<pattern> or kind:<pattern>"),
        ('{"queue:": "x"}', "'queue:' must be"),
        ('{"job:reports": "x"}', "'job:reports' must be"),
        ('{"queue:reports": ""}', "the value of 'queue:reports' must be the name or ARN of a function"),
        ('{"queue:reports": 5}', "the value of 'queue:reports' must be"),
    ],
)
def test_invalid_routes_are_rejected(text: str, reason: str) -> None:
    with pytest.raises(
        ConfigurationError, match=r"^MINUTEHAND_WORKERS must be a JSON object such as"
    ) as raised:
        read_worker_routes({"MINUTEHAND_WORKERS": text})
    assert reason in str(raised.value)
