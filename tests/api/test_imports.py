"""A cold start imports what an answer needs, and nothing of the other functions."""

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
    told = subprocess.run(
        [sys.executable, "-c", "import sys, app; print(*sys.modules)"],
        cwd=DIRECTORY,
        capture_output=True,
        text=True,
        check=True,
    )

    loaded = set(told.stdout.split())
    assert {"app", "fastapi", "mangum", "minutehand.functions.api.app"} <= loaded
    assert not FORBIDDEN & loaded
