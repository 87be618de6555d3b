"""The functions as threads behind Lambda's address: the worker, and the dispatcher of the mode `prompt`."""

import json
import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta
from threading import Thread
from typing import Any

from minutehand.aws import LambdaInvoker
from minutehand.database import Database
from minutehand.handlers import HandlerTable
from minutehand.invocations.running import Invocation
from minutehand.local.lambda_endpoint import Call, LambdaEndpoint, Reply
from minutehand.model.invitation import parse
from minutehand.settings import Settings
from minutehand.tick import tick
from minutehand.waking.dispatching import wait

MINUTE = 60.0
KIND = "sleep"
ENVIRONMENT = {
    "MINUTEHAND_WORKER": "worker",
    "MINUTEHAND_DISPATCHER": "dispatcher",
    "AWS_REGION": "us-east-1",
    "AWS_ACCESS_KEY_ID": "bench",
    "AWS_SECRET_ACCESS_KEY": "bench",
}


class Functions:
    """The worker and the dispatcher; each invocation is a thread with a database of its own."""

    def __init__(self, url: str, settings: Settings, timeout: float = MINUTE) -> None:
        """Run nothing yet. An invocation of the worker may take `timeout` seconds."""
        self._url, self._settings, self._timeout = url, settings, timeout

    def handle(self, call: Call) -> Reply:
        """Start an invocation, and accept it."""
        run = self._work if call.function == "worker" else self._dispatch
        Thread(target=run, args=[json.loads(call.payload)], daemon=True).start()
        return Reply(status=202)

    def _dispatch(self, event: dict[str, Any]) -> None:
        """Tick, if the schedule invoked the dispatcher, and wait inside the minute."""
        queue = Database(self._url)
        if not event:
            tick(queue, LambdaInvoker(), self._settings)
        wait(queue, LambdaInvoker(), self._settings, event, time.monotonic() + MINUTE + 5)
        queue.close()

    def _work(self, event: dict[str, Any]) -> None:
        """Run the jobs of the event, whose payload is the seconds that they take, and then the next ones."""
        queue, invited, end = Database(self._url), parse(event), time.monotonic() + self._timeout
        run = Invocation(
            queue,
            HandlerTable({KIND: lambda seconds: time.sleep(seconds)}),
            lambda: timedelta(seconds=end - time.monotonic()),
            self._settings.grace,
        )
        first = run.run(invited)
        run.run_next(invited, self._settings.jobs_per_invocation - len(first))
        run.store_times()
        queue.close()


@contextmanager
def serving(functions: Functions, mode: str) -> Iterator[str]:
    """Let Lambda's address be that of the functions in this process, in a mode; yield it."""
    os.environ |= {**ENVIRONMENT, "MINUTEHAND_MODE": mode}
    with LambdaEndpoint(functions) as endpoint:
        os.environ["AWS_ENDPOINT_URL_LAMBDA"] = endpoint.url
        yield endpoint.url
