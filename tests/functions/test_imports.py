"""A cold start imports only the modules that the first event needs."""

import os
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
    "minutehand.metrics",
    "minutehand.testing",
    "opentelemetry",
    "prometheus_client",
    "pyspark",
    "rich",
    *WEB,
}
# The options of jobs, needed only by processes that enqueue, declare kinds or fire schedules.
NEW_JOBS = {
    "minutehand.enqueuing",
    "minutehand.kinds.declaration",
    "minutehand.model.job_options",
    "minutehand.model.new_job",
    "minutehand.model.recurrence",
    "minutehand.schedules.batch",
    "minutehand.schedules.installation",
}
# The team's decorators and queries, and the maintenance of resident workers.
LATER = {
    "minutehand.kinds.decorator",
    "minutehand.maintenance",
    "minutehand.queries",
    "minutehand.operations",
}
# What enqueues, ticks and workers do in modes other than `minute`.
OTHER_MODES = {"minutehand.waking"}
# The most modules that each function imports, besides those that the interpreter imports at its start. The layers
# import fewer: see tests/layers/test_versions.py.
MOST = {"worker": 414, "dispatcher": 408}
# Powertools only checks whether botocore is installed.
BOTOCORE = {"boto3", "botocore.auth", "botocore.session", "botocore.utils"}
AWS = BOTOCORE | {"minutehand.aws"}
FIRST_JOB = {"handlers", "handlers.echo", "handlers.http", "msgspec", "urllib3"}
ASYNC_JOBS = {
    "minutehand.attempts.together",
    "minutehand.calling.event_loop",
    "minutehand.database.in_loop",
}


def imported(statements: str, function: str) -> set[str]:
    """Run code in the folder of a function, in a new interpreter, and return the imported modules."""
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
    [
        ("dispatcher", ELSEWHERE | OTHER_MODES | BOTOCORE | NEW_JOBS | {"msgspec", "urllib3"}),
        ("worker", ELSEWHERE | OTHER_MODES | AWS | FIRST_JOB | ASYNC_JOBS | NEW_JOBS | LATER),
    ],
)
def test_function_imports_only_required_modules(function: str, needless: set[str]) -> None:
    modules = imported("import app", function)

    assert {"psycopg", "minutehand.database"} <= modules
    assert modules & needless == set()
    assert len(modules - imported("pass", function)) <= MOST[function]


def test_invocations_and_secrets_need_no_botocore() -> None:
    """Its signer alone imports as many modules as psycopg."""
    modules = imported("import app; import minutehand.aws.service", "dispatcher")

    assert "urllib3" in modules
    assert modules & BOTOCORE == set()


def test_migration_imports_its_layers_during_the_event() -> None:
    """Otherwise it could not report a broken layer to CloudFormation."""
    modules = imported("import app", "migrate")

    assert "app" in modules
    assert {
        name for name in modules if name.startswith(("minutehand", "psycopg", "boto"))
    } | modules & WEB == set()


def test_worker_runs_the_handlers_of_named_modules_without_a_folder(tmp_path: Path) -> None:
    (tmp_path / "shop" / "jobs").mkdir(parents=True)
    (tmp_path / "shop" / "jobs" / "welcome.py").write_text("def handle(payload): return 7")
    code = (
        "from minutehand.functions.worker import handler, handlers; "
        "print(handlers.find('welcome').function(None))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code],
        cwd=tmp_path,
        env={**os.environ, "MINUTEHAND_HANDLERS": "shop.jobs"},
        capture_output=True,
        text=True,
        check=True,
    )

    assert done.stdout == "7\n"


def test_handler_is_imported_with_the_first_job_of_its_kind() -> None:
    find = "from minutehand.functions.worker import handlers; handlers.find('echo')"
    modules = imported(f"import app; {find}", "worker")

    assert "handlers.echo" in modules
    assert modules & (AWS | FIRST_JOB) == {"handlers", "handlers.echo"}


def test_check_detects_imports() -> None:
    assert {"msgspec", "boto3", "click"} <= imported("import app, msgspec, boto3, click", "worker")
