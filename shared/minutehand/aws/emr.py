"""EMR: start runs of an application of EMR Serverless, and find them again by their name."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property
from typing import Any

import boto3
from botocore.config import Config
from botocore.exceptions import BotoCoreError, ClientError

from minutehand.aws.role import region
from minutehand.errors import MinutehandError

CONFIG = Config(connect_timeout=3, read_timeout=20, retries={"mode": "standard", "max_attempts": 3})
# EMR ends a run that takes longer.
LONGEST_MINUTES = 360
MOST_RUNS = 10_000
ENDED = ("SUCCESS", "FAILED", "CANCELLED")
ADVICE = {
    "AccessDeniedException": "; the worker's role needs emr-serverless:StartJobRun and emr-serverless:ListJobRuns on "
    "the application, and iam:PassRole on the role of its jobs",
    "ResourceNotFoundException": "; check the application's id and its region",
}


class EmrError(MinutehandError):
    """EMR Serverless does not answer, or refuses a request."""


@dataclass(frozen=True)
class Run:
    """A run of an application, with its state as in EMR's API and the reason for it."""

    id: str
    state: str
    details: str
    created: datetime

    @property
    def has_ended(self) -> bool:
        """Whether the state is final."""
        return self.state in ENDED


class Application:
    """An application of EMR Serverless whose runs execute one script with different arguments."""

    def __init__(self, application: str, role: str, entry_point: str) -> None:
        """Remember the application's id, the ARN of the role of its runs, and the S3 address of the script."""
        self._id, self._role, self._entry_point = application, role, entry_point

    def latest_run(self, name: str, since: datetime) -> Run | None:
        """Return the latest run with a name that was created since then; None if there is none. Raises EmrError."""
        found = self._call(lambda client: list(self._named(client, name, since)))
        return max(found, key=lambda run: run.created, default=None)

    def start_run(self, name: str, token: str, arguments: Sequence[str]) -> None:
        """Start a run, unless one was started with this token before. Raises EmrError."""
        self._call(
            lambda client: client.start_job_run(
                applicationId=self._id,
                clientToken=token,
                executionRoleArn=self._role,
                executionTimeoutMinutes=LONGEST_MINUTES,
                name=name,
                jobDriver={
                    "sparkSubmit": {"entryPoint": self._entry_point, "entryPointArguments": list(arguments)}
                },
            )
        )

    def _named(self, client: Any, name: str, since: datetime) -> Iterator[Run]:
        pages = client.get_paginator("list_job_runs").paginate(applicationId=self._id, createdAtAfter=since)
        found = False
        for number, run in enumerate((run for page in pages for run in page["jobRuns"]), 1):
            if run.get("name") == name:
                found = True
                yield Run(run["id"], run["state"], run.get("stateDetails") or "", run["createdAt"])
            if number >= MOST_RUNS:
                if found:
                    return
                raise EmrError(
                    f"the application {self._id} has {MOST_RUNS:,} runs or more since {since:%Y-%m-%d}, too many to "
                    "find one by its name; use an application for the pipeline only"
                )

    def _call(self, request: Any) -> Any:
        try:
            return request(self._client)
        except ClientError as error:
            answer = error.response.get("Error", {})
            code = answer.get("Code", "an error")
            raise EmrError(
                f"EMR Serverless answered {code}: {answer.get('Message', 'no message')}{ADVICE.get(code, '')}"
            ) from None
        except BotoCoreError as error:
            raise EmrError(
                f"EMR Serverless did not respond ({type(error).__name__}); a VPC needs a NAT gateway or an "
                "endpoint for emr-serverless"
            ) from None

    @cached_property
    def _client(self) -> Any:
        return boto3.client("emr-serverless", region_name=region(), config=CONFIG)
