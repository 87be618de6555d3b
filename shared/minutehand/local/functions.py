"""Functions: the worker and the dispatcher of a local run, and their ticks."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from threading import Thread

from minutehand.local.plan import Plan
from minutehand.local.pool import Listener, Pool
from minutehand.local.stopping import LocalStop
from minutehand.settings.table import MODE

DISPATCHER_SECONDS, WORKER_SECONDS = {"minute": 30.0, "prompt": 90.0}, 60.0
# A tick ends sooner. In the mode `prompt`, the dispatcher then waits, and nothing needs the end of that.
TICK_SECONDS = 2.0


@dataclass
class Functions:
    """The functions of a local run. `interrupted` is whether jobs were interrupted at the end."""

    worker: Pool
    dispatcher: Pool
    interrupted: bool = False

    @property
    def by_name(self) -> dict[str, Pool]:
        """The functions by their names."""
        return {each.name: each for each in (self.worker, self.dispatcher)}


@contextmanager
def serve_functions(
    plan: Plan, listen: Listener, environment: Mapping[str, str], stop: LocalStop
) -> Iterator[Functions]:
    """Run the functions, and tick, until the end of this block. Running jobs have time until `stop` is urgent."""

    def pool(name: str, size: int, seconds: float) -> Pool:
        return Pool(name, plan.functions / name, size, listen, environment, seconds)

    worker = pool("worker", plan.workers, WORKER_SECONDS)
    # One waits while the next tick starts, and another one while a process that enqueues invokes it.
    dispatcher = pool(
        "dispatcher", 3 if MODE.read() == "prompt" else 1, DISPATCHER_SECONDS.get(MODE.read(), 30.0)
    )
    ticking = Thread(target=_tick, args=(dispatcher, plan.every, stop))
    functions = Functions(worker, dispatcher)
    for each in (worker, dispatcher):
        each.start()
    ticking.start()
    try:
        yield functions
    finally:
        stop.set()
        ticking.join()
        dispatcher.close(stop.is_urgent, TICK_SECONDS)
        functions.interrupted = worker.close(stop.is_urgent)


def _tick(dispatcher: Pool, every: float, stop: LocalStop) -> None:
    dispatcher.invoke({"scheduled": datetime.now(UTC).isoformat()})
    while not stop.wait(every):
        dispatcher.invoke({"scheduled": datetime.now(UTC).isoformat()})
