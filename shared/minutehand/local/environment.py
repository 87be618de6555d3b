"""Environment: a process of a local run that loads a function and handles one event at a time.

    python -m minutehand.local.environment functions/worker worker 60

Events are lines of JSON on standard input; the process ends when it closes. Standard output contains the function's
output; a line that begins with a record separator is the answer to an event.
"""

import json
import sys
import traceback
import uuid
from dataclasses import dataclass, field
from importlib import import_module
from time import monotonic
from typing import Any

RESPONSE = "\x1e"


@dataclass(frozen=True)
class Context:
    """The context that Lambda passes with an event."""

    function_name: str
    timeout: float
    began: float = field(default_factory=monotonic)
    aws_request_id: str = field(default_factory=lambda: str(uuid.uuid4()))
    memory_limit_in_mb: int = 512
    function_version: str = "$LATEST"

    @property
    def invoked_function_arn(self) -> str:
        """An ARN in Lambda's format."""
        return f"arn:aws:lambda:local:000000000000:function:{self.function_name}"

    def get_remaining_time_in_millis(self) -> int:
        """Return the milliseconds until the timeout."""
        return max(0, round((self.began + self.timeout - monotonic()) * 1000))


def serve(directory: str, name: str, timeout: float) -> None:
    """Handle events until standard input closes."""
    sys.path.insert(0, directory)
    handler = import_module("app").handler
    for line in sys.stdin:
        response = _call(handler, json.loads(line), Context(name, timeout))
        # On a line of its own, also if the handler has printed without a newline.
        sys.stdout.write(f"\n{RESPONSE}{json.dumps(response)}\n")
        sys.stdout.flush()


def _call(handler: Any, event: Any, context: Context) -> dict[str, Any]:
    try:
        return {"result": handler(event, context)}
    except Exception as error:
        return {"error": f"{type(error).__name__}: {error}", "trace": traceback.format_exc()}


if __name__ == "__main__":
    serve(sys.argv[1], sys.argv[2], float(sys.argv[3]))
