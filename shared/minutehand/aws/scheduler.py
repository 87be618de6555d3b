"""Scheduler: create and delete one-off schedules of EventBridge Scheduler with signed requests, without boto3."""

import json
from datetime import datetime
from functools import cached_property
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from minutehand.aws.role import region
from minutehand.errors import WakeupError

if TYPE_CHECKING:
    from minutehand.aws.service import Service

# Time limits to connect and to answer, and the longest pause before the second and last attempt: an open transaction
# waits for it.
SECONDS = (1.0, 2.0)
PAUSES = (0.3,)
CONNECTIONS = 4
JSON = {"Content-Type": "application/json"}
# A schedule of this name exists already, or does not exist.
EXISTS, ABSENT = "ConflictException", "ResourceNotFoundException"
INPUT = '{"scheduled": "<aws.scheduler.scheduled-time>"}'

ADVICE = {
    "AccessDeniedException": "; the role needs scheduler:CreateSchedule on the group's schedules, and iam:PassRole on "
    "the schedules' role",
    "ResourceNotFoundException": "; check the name of the group and its region",
}


class Scheduler:
    """The wake-ups of one stack; AWS_ENDPOINT_URL_SCHEDULER may point to a local endpoint."""

    def __init__(self, group: str, target: str, role: str) -> None:
        """Remember the schedule group, and the ARNs of the dispatcher and of the role that invokes it."""
        self._group, self._target, self._role = group, target, role

    def create(self, name: str, minute: datetime) -> None:
        """Create a wake-up at a UTC minute, unless one of this name exists. Raises WakeupError."""
        body = json.dumps(self._schedule(minute)).encode()
        self._send("POST", f"/schedules/{name}", body, EXISTS)

    def delete(self, name: str) -> None:
        """Delete a wake-up, unless it has fired. Raises WakeupError."""
        self._send("DELETE", f"/schedules/{name}?groupName={quote(self._group, safe='')}", b"", ABSENT)

    def _schedule(self, minute: datetime) -> dict[str, Any]:
        return {
            "GroupName": self._group,
            "ScheduleExpression": f"at({minute:%Y-%m-%dT%H:%M:%S})",
            "ScheduleExpressionTimezone": "UTC",
            "FlexibleTimeWindow": {"Mode": "OFF"},
            "ActionAfterCompletion": "DELETE",
            "Target": {
                "Arn": self._target,
                "RoleArn": self._role,
                "Input": INPUT,
                "RetryPolicy": {"MaximumRetryAttempts": 10, "MaximumEventAgeInSeconds": 3600},
            },
        }

    def _send(self, method: str, path: str, body: bytes, accepted: str) -> None:
        # Imported at the first request: most invocations know that the wake-up exists.
        from minutehand.aws.service import NoAnswerError

        try:
            answer = self._service.send(method, path, body, JSON)
        except NoAnswerError as error:
            raise WakeupError(
                f"EventBridge Scheduler at {self._service.url} did not respond ({error}); a VPC needs a NAT gateway or "
                "an endpoint for scheduler"
            ) from error
        if answer.status >= 300 and answer.code != accepted:
            raise WakeupError(
                f"EventBridge Scheduler answered {answer.code}: {answer.message}{ADVICE.get(answer.code, '')}"
            )

    @cached_property
    def _service(self) -> "Service":
        from minutehand.aws.service import Service

        return Service(
            "Scheduler", "scheduler", region(), connections=CONNECTIONS, seconds=SECONDS, pauses=PAUSES
        )
