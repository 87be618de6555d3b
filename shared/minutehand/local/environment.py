"""Environment: a process of a local run that loads a function and handles one event at a time.

    python -m minutehand.local.environment functions/worker worker 60

Events are lines of JSON on standard input; the process ends when it closes. Standard output contains the function's
output; a line that begins with a record separator is the answer to an event.

After the signal STOP, a function has no time left for further jobs. INTERRUPT interrupts the running ones, which are
released.
"""

import json
import os
import signal
import sys
import traceback
import uuid
from dataclasses import dataclass, field
from importlib import import_module
from time import monotonic
from types import FrameType
from typing import Any

from minutehand.calling.interrupts import interrupt
from minutehand.model.outcome import Interrupted

RESPONSE = "\x1e"
# Both end a process that is still starting, and print nothing, as Python does for SIGINT.
STOP, INTERRUPT = signal.SIGTERM, signal.SIGUSR1


class _Stop:
    def __init__(self) -> None:
        self.requested = False
        # Whether the process handles no more events: an interrupt would be raised while Python shuts down.
        self.ended = False
        signal.signal(STOP, self._request)
        signal.signal(INTERRUPT, self._interrupt)

    def _request(self, _number: int, _frame: FrameType | None) -> None:
        self.requested = True

    def _interrupt(self, _number: int, _frame: FrameType | None) -> None:
        self.requested = True
        if not self.ended:
            interrupt()


@dataclass(frozen=True)
class Context:
    """The context that Lambda passes with an event."""

    function_name: str
    timeout: float
    # None if nothing stops the function early.
    stop: _Stop | None = None
    began: float = field(default_factory=monotonic)
    aws_request_id: str = field(default_factory=lambda: str(uuid.uuid4()))
    memory_limit_in_mb: int = 512
    function_version: str = "$LATEST"

    @property
    def invoked_function_arn(self) -> str:
        """An ARN in Lambda's format."""
        return f"arn:aws:lambda:local:000000000000:function:{self.function_name}"

    def get_remaining_time_in_millis(self) -> int:
        """Return the milliseconds until the timeout; none if the local run is stopping."""
        if self.stop is not None and self.stop.requested:
            return 0
        return max(0, round((self.began + self.timeout - monotonic()) * 1000))


def serve(directory: str, name: str, timeout: float) -> None:
    """Handle events until standard input closes, or an event is interrupted."""
    stop = _Stop()
    try:
        sys.path.insert(0, directory)
        handler = import_module("app").handler
        for line in sys.stdin:
            response = _call(handler, json.loads(line), Context(name, timeout, stop))
            # On a line of its own, also if the handler has printed without a newline.
            sys.stdout.write(f"\n{RESPONSE}{json.dumps(response)}\n")
            sys.stdout.flush()
    except Interrupted:
        pass
    except BrokenPipeError:
        # The local run was killed. Python flushes its output at exit, and would complain of the broken pipe.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    finally:
        # Not a call, before which a signal handler could run.
        stop.ended = True


def _call(handler: Any, event: Any, context: Context) -> dict[str, Any]:
    try:
        return {"result": handler(event, context)}
    except Exception as error:
        return {"error": f"{type(error).__name__}: {error}", "trace": traceback.format_exc()}


if __name__ == "__main__":
    serve(sys.argv[1], sys.argv[2], float(sys.argv[3]))
