"""The pipeline handler starts a run of EMR Serverless and waits for its end, in moto and on a real database."""

from collections.abc import Iterator
from datetime import timedelta
from typing import Any

import boto3
import pytest
from moto import mock_aws
from moto.backends import get_backend

from handlers import pipeline
from minutehand import Database, Fail, enqueue
from minutehand.attempts.in_turn import run_jobs
from minutehand.aws import emr
from minutehand.claim import take
from minutehand.errors import ConfigurationError
from minutehand.handlers import HandlerTable
from minutehand.operations.jobs import promote, retry
from minutehand.queries.jobs import get
from tests.servers import Database as Address

REGION, ACCOUNT = "eu-central-1", "123456789012"
ROLE = f"arn:aws:iam::{ACCOUNT}:role/pipeline-jobs"
ENTRY = "s3://bucket/minutehand-pipeline/main.py"
ARCHIVE = ["archive", "s3://bucket/lake"]


class Stage:
    """An application in moto, whose runs a test ends, and a worker that handles the jobs of the kind `pipeline`."""

    def __init__(self, database: Database, setting: pytest.MonkeyPatch) -> None:
        client: Any = boto3.client("emr-serverless")
        self.application: str = client.create_application(
            name="pipeline", releaseLabel="emr-7.0.0", type="SPARK", clientToken="one"
        )["applicationId"]
        setting.setenv("MINUTEHAND_PIPELINE_APPLICATION", self.application)
        setting.setenv("MINUTEHAND_PIPELINE_ROLE", ROLE)
        setting.setenv("MINUTEHAND_PIPELINE_ENTRY_POINT", ENTRY)
        self.database = database
        assert not self.runs
        self.id = enqueue("pipeline", ARCHIVE, max_attempts=2, connection=database).id

    @property
    def runs(self) -> list[Any]:
        """The runs in moto, in the order of their start."""
        stored: dict[str, list[Any]] = get_backend("emr-serverless")[ACCOUNT][REGION].job_runs
        # moto does not find an application without runs.
        return stored.setdefault(self.application, [])

    @property
    def error(self) -> str:
        """The message of the job's latest error."""
        return (get(self.database, self.id).error or {})["message"]

    def work(self, state: str | None = None, details: str = "") -> str:
        """Handle the job now, while the latest run has a state; return how the attempt ended."""
        if state is not None:
            self.runs[-1].state, self.runs[-1].state_details = state, details
            # moto rounds it down to midnight.
            self.runs[-1].created_at += len(self.runs) * timedelta(seconds=1)
        promote(self.database, [self.id])
        jobs = take(self.database, "default", 1, timedelta(minutes=1), timedelta(seconds=2))
        (finished,) = run_jobs(jobs, HandlerTable({"pipeline": pipeline.handle}), lambda: False)
        return finished.ending


@pytest.fixture
def stage(direct_database: Address, monkeypatch: pytest.MonkeyPatch) -> Iterator[Stage]:
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
        monkeypatch.setenv(name, "testing")
    monkeypatch.setenv("AWS_DEFAULT_REGION", REGION)
    database = Database(direct_database.url)
    with mock_aws():
        yield Stage(database, monkeypatch)
    database.close()


def test_pipeline_job_waits_for_its_run_and_returns_its_id(stage: Stage) -> None:
    assert stage.work() == "snoozed"
    assert [stage.work(state) for state in ("PENDING", "RUNNING", "SUCCESS")] == [
        "snoozed",
        "snoozed",
        "done",
    ]

    (run,) = stage.runs
    job = get(stage.database, stage.id)
    assert job.result == {"run": run.id}
    assert job.attempts == 1
    assert run.job_driver == {"sparkSubmit": {"entryPoint": ENTRY, "entryPointArguments": ARCHIVE}}
    assert (run.execution_role_arn, run.execution_timeout_minutes) == (ROLE, 360)


def test_pipeline_job_starts_another_run_after_a_failed_one(stage: Stage) -> None:
    stage.work()

    assert stage.work("FAILED", "exit code 3") == "retrying"
    assert stage.error == f"run {stage.runs[0].id} failed: exit code 3"
    assert stage.work() == "snoozed"
    first, second = (run.client_token for run in stage.runs)
    assert first != second
    assert max(len(first), len(second)) <= 64
    assert stage.work("FAILED") == "dead"
    retry(stage.database, [stage.id])
    assert (stage.work(), len(stage.runs)) == ("snoozed", 3)
    assert stage.work("SUCCESS") == "done"


def test_pipeline_job_fails_if_the_application_has_too_many_runs(
    stage: Stage, monkeypatch: pytest.MonkeyPatch
) -> None:
    stage.work()
    monkeypatch.setattr(emr, "MOST_RUNS", 1)
    stage.runs[0].name = "another"
    stage.runs.append(stage.runs[0])

    assert stage.work() == "retrying"
    assert "has 1 runs or more since" in stage.error


def test_pipeline_job_ends_as_cancelled_with_its_run(stage: Stage) -> None:
    stage.work()

    assert stage.work("CANCELLED") == "cancelled"
    retry(stage.database, [stage.id])
    assert (stage.work(), len(stage.runs)) == ("snoozed", 2)


def test_pipeline_runs_of_other_jobs_are_ignored(stage: Stage) -> None:
    stage.work()
    stage.runs[-1].name = "report"

    assert (stage.work("SUCCESS"), len(stage.runs)) == ("snoozed", 2)


@pytest.mark.parametrize(
    ("payload", "tenant", "message"),
    [
        ([], "", "the payload must begin with a command, .*; got no argument"),
        (["erase", "s3://bucket/lake"], "", "one of archive, compact, report; got 'erase'"),
        (ARCHIVE, "acme", "no job of a tenant can run it, got acme"),
    ],
)
def test_pipeline_rejects_other_commands_and_tenants(attempt, payload, tenant, message):
    with pytest.raises(Fail, match=message):
        pipeline.handle(payload, attempt(tenant=tenant))


def test_pipeline_names_missing_settings(attempt, monkeypatch):
    monkeypatch.setenv("MINUTEHAND_PIPELINE_ROLE", ROLE)

    with pytest.raises(
        ConfigurationError,
        match=r"^MINUTEHAND_PIPELINE_APPLICATION and MINUTEHAND_PIPELINE_ENTRY_POINT must be set",
    ):
        pipeline.handle(ARCHIVE, attempt())


def test_pipeline_explains_an_unknown_application(stage: Stage, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MINUTEHAND_PIPELINE_APPLICATION", "00fabcdefghijklm")

    assert stage.work() == "retrying"
    assert "ResourceNotFoundException" in stage.error
