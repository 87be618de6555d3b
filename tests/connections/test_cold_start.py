"""A cold start fetches nothing, and a secret is read without botocore."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.connections.manager import Manager

FUNCTIONS = Path(__file__).parents[2] / "functions"
BOTOCORE = {"boto3", "botocore.auth", "botocore.session", "botocore.utils"}
TELL = "import sys; print(*sys.modules)"


def run(code: str, folder: str = "worker") -> set[str]:
    """Run code in a new interpreter and return the imported modules."""
    completed = subprocess.run(
        [sys.executable, "-c", f"{code}; {TELL}"],
        cwd=FUNCTIONS / folder,
        env=os.environ,
        capture_output=True,
        text=True,
        check=True,
    )
    return set(completed.stdout.split())


def test_secret_is_read_without_botocore(manager: Manager, monkeypatch: pytest.MonkeyPatch) -> None:
    arn = manager.store("postgresql://jobs@db.internal/app")
    monkeypatch.setenv("MINUTEHAND_DATABASE_SECRET", arn)
    modules = run("from minutehand.settings import database_url; database_url()")

    assert "minutehand.aws.secrets" in modules
    assert modules & BOTOCORE == set()


def test_token_is_signed_without_botocore(manager: Manager) -> None:
    modules = run(
        "from minutehand.settings import database_token; database_token('db.internal', 5432, 'jobs')"
    )

    assert modules & (BOTOCORE | {"urllib3", "minutehand.aws.secrets"}) == set()


@pytest.mark.parametrize("folder", ["worker", "dispatcher", "api"])
def test_import_reads_no_secret_and_opens_no_connection(monkeypatch: pytest.MonkeyPatch, folder: str) -> None:
    monkeypatch.setenv("MINUTEHAND_DATABASE_SECRET", "nowhere")
    monkeypatch.setenv("MINUTEHAND_API_TOKENS_SECRET", "nowhere")
    monkeypatch.setenv("AWS_ENDPOINT_URL_SECRETS_MANAGER", "http://127.0.0.1:1")

    assert "minutehand.aws.secrets" not in run("import app", folder)
