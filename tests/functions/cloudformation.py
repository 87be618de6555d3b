"""CloudFormation as the migration function sees it: requests, and the storage of the responses."""

import json
from dataclasses import dataclass
from typing import Any

from tests.functions.conftest import Server

SIGNED = "/stack-answers?X-Amz-Signature=0123456789abcdef"
STACK = {
    "StackId": "arn:aws:cloudformation:eu-central-1:123456789012:stack/minutehand/1",
    "RequestId": "2",
    "LogicalResourceId": "Migration",
}


@dataclass(frozen=True)
class Context:
    """As much of Lambda's context as the function reads."""

    remaining: int = 300_000

    def get_remaining_time_in_millis(self) -> int:
        return self.remaining


def event(request: str, storage: Server, path: str = SIGNED) -> dict[str, Any]:
    return {**STACK, "RequestType": request, "ResponseURL": f"http://{storage.authority}{path}"}


def last_response(storage: Server) -> dict[str, str]:
    """The last answer, which must have come as the address was signed for."""
    seen = storage.seen[-1]
    assert seen.line == f"PUT {SIGNED} HTTP/1.1"
    assert seen.headers["content-type"] == ""
    answer: dict[str, str] = json.loads(seen.body)
    assert answer.items() >= STACK.items()
    assert answer["PhysicalResourceId"] == "minutehand-schema"
    return answer
