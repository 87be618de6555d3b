"""Hundreds of workers' execution environments: processes that imported the worker once and run its handler.

Reads `{"environments": n, "events": [...]}` from standard input; says what the handlers answered, or what went wrong.
"""

import json
import multiprocessing
import os
import sys
from pathlib import Path
from typing import Any

WORKER = Path(__file__).parents[2] / "functions" / "worker"


class Context:
    """The context that Lambda passes with an event."""

    function_name, memory_limit_in_mb, aws_request_id, function_version = "worker", 512, "request", "1"
    invoked_function_arn = "arn:aws:lambda:eu-central-1:123456789012:function:worker"

    def get_remaining_time_in_millis(self) -> int:
        return 60_000


def live(handler: Any, events: list[Any], ready: Any, answers: Any) -> None:
    """Run one environment: connect together with the others, then handle the events in order."""
    try:
        from minutehand.database import default_database

        ready.wait()
        default_database().run("clock")
        ready.wait()
        answers.put([handler(event, Context()) for event in events])
    except BaseException as error:
        ready.abort()
        answers.put([{"fault": f"{type(error).__name__}: {error}"}])


def main() -> None:
    """Run all environments and print their answers."""
    answer = os.fdopen(os.dup(1), "w")
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)  # where the handler logs to
    sys.path.insert(0, str(WORKER))
    from app import handler

    order = json.load(sys.stdin)
    fork = multiprocessing.get_context("fork")
    ready, answers = fork.Barrier(order["environments"]), fork.Queue()
    shares = [order["events"][place :: order["environments"]] for place in range(order["environments"])]
    processes = [fork.Process(target=live, args=(handler, share, ready, answers)) for share in shares]
    for process in processes:
        process.start()
    results = [answer for _ in processes for answer in answers.get(timeout=120)]
    for process in processes:
        process.join()
    json.dump(results, answer)
    answer.close()


if __name__ == "__main__":
    main()
