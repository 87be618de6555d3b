"""The API conforms to its OpenAPI schema; schemathesis sends valid and invalid requests."""

import pytest
import schemathesis
from hypothesis import HealthCheck, given, settings
from schemathesis import GenerationMode
from schemathesis.checks import not_a_server_error
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    response_headers_conformance,
    response_schema_conformance,
    status_code_conformance,
)

from minutehand import enqueue
from minutehand.operations.jobs import cancel
from tests.api.stage import TOKEN
from tests.thorough import amount

CHECKS = [
    not_a_server_error,
    status_code_conformance,
    content_type_conformance,
    response_headers_conformance,
    response_schema_conformance,
]
OPERATIONS = [
    "POST /jobs",
    "POST /jobs/batch",
    "GET /jobs",
    "GET /jobs/{id}",
    "POST /jobs/{id}/cancel",
    "POST /jobs/{id}/promote",
    "POST /jobs/{id}/reschedule",
    "POST /jobs/{id}/retry",
    "GET /jobs/{id}/attempts",
    "POST /batches",
    "GET /batches",
    "GET /batches/{id}",
    "POST /batches/{id}/cancel",
    "POST /batches/{id}/close",
    "POST /batches/{id}/retry",
    "GET /jobs/{id}/why",
    "GET /queues/{queue}/why",
    "GET /queues",
    "GET /queues/{queue}/keys/{key}",
    "GET /retention",
    "PUT /retention",
    "GET /stats",
    "GET /schedules",
    "POST /schedules/preview",
    "GET /schedules/{name}",
    "PUT /schedules/{name}",
    "DELETE /schedules/{name}",
    "POST /schedules/{name}/pause",
    "POST /schedules/{name}/resume",
    "POST /schedules/{name}/run",
    "GET /schedules/{name}/firings",
    "GET /stats/durations",
    "GET /stats/failures",
    "GET /stats/histogram",
    "GET /stats/today",
    "GET /stats/history",
    "GET /attention",
    "GET /system",
    "GET /cost",
    "GET /failures",
    "GET /jobs/counts",
    "POST /jobs/matching",
    "GET /me",
    "PATCH /jobs/{id}",
    "DELETE /jobs/{id}",
    "POST /jobs/{id}/replay",
    "POST /jobs/change",
    "POST /jobs/retry",
    "POST /jobs/replay",
    "GET /controls",
    "POST /controls/pause",
    "POST /controls/resume",
    "POST /controls/limit",
    "POST /controls/unlimit",
    "POST /controls/unblock",
    "GET /controls/holds",
    "GET /controls/shares",
    "POST /controls/share",
    "POST /controls/unshare",
    "POST /queues/{queue}/delete",
    "GET /audit",
    "GET /health",
]


@pytest.fixture
def schema(function, jobs, token):
    """The schema of the application, with a database."""
    schema = schemathesis.openapi.from_dict(function.app.openapi())
    schema.app = function.app
    return schema


def test_operation_list_is_complete(schema):
    assert sorted(result.ok().label for result in schema.get_all_operations()) == sorted(OPERATIONS)


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("label", "mode"),
    # Those without parameters have no invalid form.
    [
        (label, mode)
        for mode in GenerationMode
        for label in OPERATIONS
        if (label, mode)
        not in {(f"GET /{path}", "negative") for path in ("health", "me", "attention", "system")}
    ],
)
def test_every_operation_conforms_to_the_schema(schema, jobs, label, mode):
    method, path = label.split()
    job = enqueue("echo", key="k", connection=jobs).id
    if method == "GET":
        cancel(jobs, [job])  # otherwise requests with `wait` wait
    known = {"id": str(job)} if mode is GenerationMode.POSITIVE else None

    @settings(
        max_examples=amount(4, 30),
        derandomize=True,
        database=None,
        deadline=None,
        suppress_health_check=list(HealthCheck),
    )
    @given(
        case=schema[path][method].as_strategy(
            generation_mode=mode, path_parameters=known if "{id}" in path else None
        )
    )
    def call(case):
        case.call_and_validate(checks=CHECKS, headers={"Authorization": f"Bearer {TOKEN}"})

    call()


def test_every_request_and_response_has_an_example(function):
    for path, operations in function.app.openapi()["paths"].items():
        for method, operation in operations.items():
            answers = {status: answer["content"] for status, answer in operation["responses"].items()}
            assert operation["summary"], (method, path)
            assert operation["description"], (method, path)
            for status, content in answers.items():
                (media_type,) = content
                assert media_type == ("application/json" if status < "400" else "application/problem+json")
                assert content[media_type]["example"], (method, path, status)


def test_examples_of_requests_are_accepted(api, function):
    for path, operations in function.app.openapi()["paths"].items():
        for method, body in ((m, o["requestBody"]) for m, o in operations.items() if "requestBody" in o):
            examples = body["content"]["application/json"]["examples"].values()
            for example in examples:
                job = api.post("/jobs", json={"kind": "echo", "delay": 3600}).json()["id"]
                if path.endswith("/replay"):
                    api.post(f"/jobs/{job}/cancel")
                if path.startswith("/batches/"):
                    job = api.post("/batches", json={}).json()["id"]
                where = path.format(id=job, queue="mail", name="report")
                answer = api.request(method, where, json=example["value"])
                assert answer.status_code in (200, 201), answer.text

            assert examples, (method, path)


def test_every_operation_except_health_requires_a_token(function):
    paths = function.app.openapi()["paths"]

    assert {
        path for path, operations in paths.items() for o in operations.values() if not o.get("security")
    } == {"/health"}
