"""One correlation id in the response, the log line and the job of a request."""

import json
import re
from io import StringIO

import pytest
from fastapi.testclient import TestClient

from minutehand import Database
from minutehand.queries.jobs import get, list_jobs
from tests.docs.reading import ROOT

PARENT = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"


def test_request_passes_its_trace_to_its_job(api: TestClient, jobs: Database, log: StringIO) -> None:
    headers = {"traceparent": PARENT, "baggage": "plan=pro", "x-correlation-id": "order-7"}

    response = api.post("/jobs", json={"kind": "echo"}, headers=headers)

    assert response.headers["x-correlation-id"] == "order-7"
    assert [json.loads(line)["correlation_id"] for line in log.getvalue().splitlines()] == ["order-7"]
    row = get(jobs, response.json()["id"])
    assert row.headers == {"traceparent": PARENT, "baggage": "plan=pro", "correlation-id": "order-7"}
    assert api.get(f"/jobs/{row.id}").json()["correlation_id"] == "order-7"


@pytest.mark.parametrize("given", [{}, {"x-correlation-id": "n" * 129}])
def test_request_without_a_valid_id_gets_one(api: TestClient, jobs: Database, given: dict[str, str]) -> None:
    first, second = (
        api.post("/jobs/batch", json={"jobs": [{"kind": "echo"}]}, headers=given).headers["x-correlation-id"]
        for _ in range(2)
    )

    assert first != second and len(first) == len(second) == 36
    assert {get(jobs, row.id).correlation_id for row in list_jobs(jobs).rows} == {first, second}


def test_query_of_the_documentation_uses_fields_of_the_line(api: TestClient, log: StringIO) -> None:
    page = (ROOT / "docs" / "metrics.md").read_text("utf-8")
    query = next(
        each for each in re.findall(r"```text\n(.*?)```", page, re.DOTALL) if 'service = "api"' in each
    )
    api.get("/jobs/unknown")
    line = json.loads(log.getvalue())

    assert (line["service"], line["message"]) == ("api", "request")
    assert {"took_ms", "method", "route", "status", "problem"} <= line.keys()
    used = {
        *re.findall(r"\b(?:pct|max)\((\w+)", query),
        *query.partition(" by ")[2].splitlines()[0].split(", "),
    }
    assert used <= line.keys()
