"""One execution environment of a local run: a process that loads a function and serves one event at a time.

    python -m minutehand.local.environment functions/worker worker 60

Events come in as lines of JSON on standard input, which ends the process when it closes. What the function prints
goes to standard output as it is; a line that begins with a record separator is the answer to an event.
"""

import json
import sys
import traceback
import uuid
from dataclasses import dataclass, field
from importlib import import_module
from time import monotonic
from typing import Any

ANSWER = "\x1e"


@dataclass(frozen=True)
class Context:
    """What Lambda passes beside an event."""

    function_name: str
    timeout: float
    began: float = field(default_factory=monotonic)
    aws_request_id: str = field(default_factory=lambda: str(uuid.uuid4()))
    memory_limit_in_mb: int = 512
    function_version: str = "$LATEST"

    @property
    def invoked_function_arn(self) -> str:
        """A name of the right shape."""
        return f"arn:aws:lambda:local:000000000000:function:{self.function_name}"

    def get_remaining_time_in_millis(self) -> int:
        """Return the milliseconds until this process would be killed."""
        return max(0, round((self.began + self.timeout - monotonic()) * 1000))


def serve(directory: str, name: str, timeout: float) -> None:
    """Serve events until standard input closes."""
    sys.path.insert(0, directory)
    handler = import_module("app").handler
    for line in sys.stdin:
        answer = _answer(handler, json.loads(line), Context(name, timeout))
        sys.stdout.write(f"{ANSWER}{json.dumps(answer)}\n")
        sys.stdout.flush()


def _answer(handler: Any, event: Any, context: Context) -> dict[str, Any]:
    try:
        return {"result": handler(event, context)}
    except Exception as error:
        return {"error": f"{type(error).__name__}: {error}", "trace": traceback.format_exc()}


if __name__ == "__main__":
    serve(sys.argv[1], sys.argv[2], float(sys.argv[3]))
