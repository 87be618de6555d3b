"""A queue in mode sleep, with a clock that a test moves."""

from datetime import datetime, timedelta
from typing import Any

from minutehand import Database, RetryAfter, enqueue
from minutehand.handlers import HandlerTable
from minutehand.invocations.running import run_event
from minutehand.settings import Settings
from minutehand.testing import RecordingInvoker
from minutehand.testing.statements import run
from minutehand.tick import tick
from minutehand.waking import sleep
from tests.sleep.event_bridge import EventBridge

MINUTE, HOUR, SECOND = timedelta(minutes=1), timedelta(hours=1), timedelta(seconds=1)
NOON = datetime.fromisoformat("2031-03-01T12:00:00+00:00")
LEASE = timedelta(seconds=30)


def fail(job: Any) -> None:
    raise RuntimeError("planned")


def busy(job: Any) -> None:
    raise RetryAfter(5 * HOUR)


HANDLERS = HandlerTable({"echo": lambda job: None, "fail": fail, "busy": busy})


class Stage:
    """A database at noon of a day of the future, a dispatcher and a worker."""

    def __init__(self, url: str, event_bridge: EventBridge) -> None:
        self.url, self.event_bridge = url, event_bridge
        self.database, self.worker = Database(url), Database(url)
        self.go(NOON)

    def go(self, time: datetime) -> None:
        run(self.database, "travel", to=time)

    def enqueue(self, kind: str = "echo", **options: Any) -> Any:
        return enqueue(kind, connection=self.database, **options)

    def tick(self) -> list[dict[str, Any]]:
        invoker = RecordingInvoker()
        with sleep.invocation(self.worker, ticks=True):
            tick(self.worker, invoker, Settings(capacity=100), dispatcher="dispatcher")
        return invoker.events

    def work(self, event: dict[str, Any]) -> None:
        with sleep.invocation(self.worker):
            run_event(self.worker, HANDLERS, event, lambda: LEASE, SECOND)

    def wakeups(self, prefix: str) -> list[datetime]:
        return sorted(time for name, time in self.event_bridge.wakeups.items() if name.startswith(prefix))
