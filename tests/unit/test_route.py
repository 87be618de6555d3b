"""Routes: which worker function serves a job."""

import json

import pytest

from minutehand import ConfigurationError
from minutehand.model.worker_route import Routes, read_routes

ROUTES = {
    "kind:invoice.*": "invoices",
    "queue:reports": "reports",
    "kind:report.build": "builder",
    "queue:r*": "rest",
}


@pytest.fixture
def routes() -> Routes:
    return read_routes({"MINUTEHAND_WORKER": "default", "MINUTEHAND_WORKERS": json.dumps(ROUTES)})


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
def test_the_first_route_that_fits_is_taken(routes: Routes, queue: str, kind: str, worker: str) -> None:
    assert routes.worker(queue, kind) == worker


def test_every_function_is_named_once() -> None:
    routes = read_routes({"MINUTEHAND_WORKER": "a", "MINUTEHAND_WORKERS": '{"queue:x": "b", "queue:y": "a"}'})

    assert routes.workers == ("a", "b")
    assert read_routes({}).workers == ()


@pytest.mark.parametrize("text", ["", "{}"])
def test_without_routes_everything_goes_to_the_default_worker(text: str) -> None:
    routes = read_routes({"MINUTEHAND_WORKER": "w", "MINUTEHAND_WORKERS": text})

    assert routes.worker("any", "any") == "w"


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("[]", "must be a JSON object"),
        ("queue:reports=x", "must be a JSON object"),
        ('{"reports": "x"}', "key must be queue:<pattern> or kind:<pattern>, got 'reports'"),
        ('{"queue:": "x"}', "got 'queue:'"),
        ('{"job:reports": "x"}', "got 'job:reports'"),
        ('{"queue:reports": ""}', "'queue:reports' must name a function"),
        ('{"queue:reports": 5}', "'queue:reports' must name a function"),
    ],
)
def test_what_is_no_route_is_said(text: str, said: str) -> None:
    with pytest.raises(ConfigurationError, match="MINUTEHAND_WORKERS") as raised:
        read_routes({"MINUTEHAND_WORKERS": text})
    assert said in str(raised.value)
