"""A cold start imports only the modules that the first event needs."""

import subprocess
import sys
from pathlib import Path

import pytest

FUNCTIONS = Path(__file__).parents[2] / "functions"
WEB = {"fastapi", "mangum", "pydantic", "starlette"}
ELSEWHERE = {
    "click",
    "minutehand.cli",
    "minutehand.doctor",
    "minutehand.local",
    "minutehand.testing",
    "pyspark",
    "rich",
    *WEB,
}
AWS = {"boto3", "botocore.session", "minutehand.aws"}  # Powertools looks whether there is a botocore, no more
WHAT_THE_FIRST_JOB_NEEDS = {"handlers", "handlers.echo", "handlers.http", "msgspec", "urllib3"}


def imported(statements: str, function: str) -> set[str]:
    """The modules that a fresh interpreter has after it ran something in a function's folder."""
    completed = subprocess.run(
        [sys.executable, "-c", f"import sys; {statements}; print(*sys.modules)"],
        cwd=FUNCTIONS / function,
        capture_output=True,
        text=True,
        check=True,
    )
    return set(completed.stdout.split())


@pytest.mark.parametrize(
    ("function", "needless"),
    [("dispatcher", ELSEWHERE | {"msgspec"}), ("worker", ELSEWHERE | AWS | WHAT_THE_FIRST_JOB_NEEDS)],
)
def test_function_imports_only_required_modules(function: str, needless: set[str]) -> None:
    modules = imported("import app", function)

    assert {"psycopg", "minutehand.database"} <= modules
    assert modules & needless == set()


def test_migration_imports_its_layers_during_the_event() -> None:
    """So that it can tell CloudFormation what is wrong with them."""
    modules = imported("import app", "migrate")

    assert "app" in modules
    assert {
        name for name in modules if name.startswith(("minutehand", "psycopg", "boto"))
    } | modules & WEB == set()


def test_handler_is_imported_with_the_first_job_of_its_kind() -> None:
    find = "from minutehand.functions.worker import handlers; handlers.find('echo')"
    modules = imported(f"import app; {find}", "worker")

    assert "handlers.echo" in modules
    assert modules & (AWS | WHAT_THE_FIRST_JOB_NEEDS) == {"handlers", "handlers.echo"}


def test_check_detects_imports() -> None:
    assert {"msgspec", "boto3", "click"} <= imported("import app, msgspec, boto3, click", "worker")
