"""A cold start of the API imports only the modules that a request needs."""

import subprocess
import sys
from pathlib import Path

DIRECTORY = Path(__file__).parents[2] / "functions" / "api"
FORBIDDEN = {
    "boto3",
    "botocore.session",
    "pyspark",
    "click",
    "rich",
    "uvicorn",
    "minutehand.aws",
    "minutehand.cli",
    "minutehand.doctor",
    "minutehand.functions.dispatcher",
    "minutehand.functions.worker",
    "minutehand.local",
    "minutehand.testing",
    "msgspec",
    "urllib3",
    "httpx",
    "requests",
    "minutehand.enqueuing",
    "minutehand.operations",
    "minutehand.queries",
}
# The most modules that the API imports, those of the interpreter included.
MOST = 605


def test_api_imports_only_required_modules():
    completed = subprocess.run(
        [sys.executable, "-c", "import sys, app; print(*sys.modules)"],
        cwd=DIRECTORY,
        capture_output=True,
        text=True,
        check=True,
    )

    loaded = set(completed.stdout.split())
    assert {"app", "fastapi", "mangum", "minutehand.functions.api.app"} <= loaded
    assert not FORBIDDEN & loaded
    assert {name for name in loaded if ".api.routers" in name} == set()
    assert len(loaded) <= MOST


def test_router_is_imported_with_the_first_request_for_it():
    code = (
        "import sys; from app import app; from fastapi.testclient import TestClient; "
        "assert TestClient(app).get('/health').status_code in (200, 503); print(*sys.modules)"
    )
    completed = subprocess.run(
        [sys.executable, "-c", code], cwd=DIRECTORY, capture_output=True, text=True, check=True
    )

    loaded = set(completed.stdout.split())
    assert {name for name in loaded if ".api.routers." in name} == {"minutehand.functions.api.routers.health"}
