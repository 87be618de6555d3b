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
}


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
