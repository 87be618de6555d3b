"""Invocation: a call of a function and its result, as in Lambda's Invoke API."""

import json
import re
import secrets
from dataclasses import dataclass, field
from time import time
from typing import Any
from uuid import uuid4

# The account of Lambda's local server.
ACCOUNT = "012345678912"
HOPS = re.compile(r"Lineage=[^;:]*:(\d+)")


def new_trace() -> str:
    """Return the trace header of a new chain."""
    return f"Root=1-{int(time()):08x}-{secrets.token_hex(12)};Lineage={secrets.token_hex(4)}:0"


@dataclass(frozen=True, kw_only=True)
class Invocation:
    """A call of a function: synchronous, or an event with its attempt and the time of its acceptance."""

    function: str
    """Logical id."""
    payload: bytes
    event: bool = False
    attempt: int = 1
    accepted: float = 0.0
    """By the emulator's clock."""
    id: str = field(default_factory=lambda: str(uuid4()))
    trace: str = field(default_factory=new_trace)
    client_context: dict[str, Any] | None = None

    @property
    def hops(self) -> int:
        """The number of functions before this one in the chain."""
        found = HOPS.search(self.trace)
        return int(found[1]) if found else 0

    @property
    def next_trace(self) -> str:
        """The trace header that the function passes on."""
        if HOPS.search(self.trace) is None:
            return f"{self.trace};Lineage={secrets.token_hex(4)}:1"
        return HOPS.sub(lambda found: found[0].rpartition(":")[0] + f":{self.hops + 1}", self.trace)


@dataclass(frozen=True, kw_only=True)
class Result:
    """The result of an invocation."""

    payload: bytes = b""
    status: int = 200
    error: str | None = None
    """`Unhandled` if the function raised an error, timed out or exited."""
    broken: bool = False
    """Whether the execution environment has ended."""
    log: tuple[str, ...] = ()
    cold: bool = False
    ms: float = 0.0
    init_ms: float = 0.0
    pid: int = 0
    id: str = ""

    def json(self) -> Any:
        """Return the parsed payload."""
        return json.loads(self.payload) if self.payload else None


def failure(kind: str, message: str, **facts: Any) -> Result:
    """Return the result of an environment that ended."""
    body = json.dumps({"errorType": kind, "errorMessage": message}).encode()
    return Result(payload=body, error="Unhandled", broken=True, **facts)


class Refused(Exception):
    """Lambda refused an invocation: a status, the name of the error, and the reason of a throttle."""

    def __init__(self, status: int, name: str, message: str, reason: str | None = None) -> None:
        """Set the error for the caller."""
        super().__init__(message)
        self.status, self.name, self.message, self.reason = status, name, message, reason


def throttled(reason: str) -> Refused:
    """Return Lambda's 429."""
    return Refused(429, "TooManyRequestsException", "Rate Exceeded.", reason)
