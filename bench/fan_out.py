"""A tick that invites 10,000 workers, alone and through further invocations: python -m bench.fan_out.

The invocations go to an endpoint in another process, which answers after 15 ms.
"""

import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from multiprocessing import get_context
from multiprocessing.connection import Connection
from typing import Any

import click

from bench.server import database
from minutehand.aws import LambdaInvoker
from minutehand.database import Database
from minutehand.fan_out import Invoker
from minutehand.invocations.forwarding import MOST_INVITATIONS, forward
from minutehand.local.lambda_endpoint import Call, LambdaEndpoint, Reply
from minutehand.model.worker_route import WorkerRoutes
from minutehand.settings import Settings
from minutehand.tick import tick

ANSWER_SECONDS = 0.015
FILL = "insert into minutehand.jobs_live (kind) select 'echo' from generate_series(1, %s)"
RENEW = "update minutehand.jobs_live set ack = null, offered = null, visible = clock_timestamp() - interval '1 second'"


class Slow:
    """Accepts every invocation."""

    def handle(self, _call: Call) -> Reply:
        """Answer like Lambda."""
        time.sleep(ANSWER_SECONDS)
        return Reply(status=202)


class Keeping:
    """An invoker that keeps the events of the dispatcher."""

    def __init__(self, invoker: Invoker) -> None:
        """Keep nothing yet."""
        self._invoker, self.events = invoker, list[dict[str, Any]]()

    def invoke(self, worker: str, event: dict[str, Any]) -> None:
        """Invoke the function."""
        if "invitations" in event:
            self.events.append(event)
        self._invoker.invoke(worker, event)


def serve(pipe: Connection) -> None:
    """Serve until the process is ended."""
    with LambdaEndpoint(Slow()) as endpoint:
        pipe.send(endpoint.url)
        pipe.recv()


@contextmanager
def endpoint() -> Iterator[None]:
    """Let Lambda's address be that of a process of its own."""
    context = get_context("spawn")
    ours, theirs = context.Pipe()
    process = context.Process(target=serve, args=[theirs])
    process.start()
    os.environ |= {
        "AWS_ENDPOINT_URL_LAMBDA": ours.recv(),
        "AWS_REGION": "us-east-1",
        "AWS_ACCESS_KEY_ID": "bench",
        "AWS_SECRET_ACCESS_KEY": "bench",
    }
    try:
        yield
    finally:
        ours.send("end")
        process.join()


@click.command()
@click.option("--jobs", default=10_000, show_default=True)
def main(jobs: int) -> None:
    """Print the seconds of each part."""
    with endpoint(), database() as url:
        queue, settings = Database(url), Settings(capacity=jobs, workers=WorkerRoutes("worker"))
        queue.connection.execute(FILL, [jobs])
        for name in ("", "dispatcher"):
            invoker = Keeping(LambdaInvoker())
            made = tick(queue, invoker, settings, dispatcher=name)
            sent = f"{made.fan_out.invoked} invoked, {made.fan_out.forwarded} forwarded"
            print(f"tick, {sent}, {len(made.fan_out.refused)} refused: {made.took.total_seconds():.1f} s")
            queue.connection.execute(RENEW)
        began = time.perf_counter()
        forward(LambdaInvoker(), invoker.events[0], float("inf"))
        print(f"one of {jobs // MOST_INVITATIONS} forwarded parts: {time.perf_counter() - began:.1f} s")
        queue.close()


if __name__ == "__main__":
    main(prog_name="python -m bench.fan_out")
