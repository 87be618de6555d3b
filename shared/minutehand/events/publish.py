"""Publish: pass events to the hooks of this process, and after the commit to the sinks."""

from collections import deque
from collections.abc import Collection, Iterable, Sequence
from dataclasses import replace
from threading import get_ident
from time import monotonic

from minutehand.database import Database, Executor, sync_or_async
from minutehand.events import hooks
from minutehand.events.sinks import SECONDS, Delivery, deliveries, is_selected
from minutehand.model.event import Event, Hook, ignore
from minutehand.settings.table import EVENTS

BUFFER_SECONDS = 1.0


def has_listeners() -> bool:
    """Return whether a hook or a sink of this process gets events."""
    return bool(_deliveries()) or hooks.has_hooks()


@sync_or_async
async def publish(executor: Executor, events: Iterable[Event]) -> None:
    """Publish events: to the events table in the open transaction, to hooks and other sinks after its commit.

    In a transaction of yours whose commit is not visible here, only the events table gets them. Without hooks and
    sinks, `events` is not even iterated. Failures never reach the caller.
    """
    if not has_listeners():
        return
    tenant = executor.tenant
    batch = [event if event.tenant or not tenant else replace(event, tenant=tenant) for event in events]
    if not executor.in_transaction:
        await _publish(executor, batch, _deliveries())
        return
    await send(executor, batch, SECONDS, [each for each in _deliveries() if each.in_transaction])
    others = [each for each in _deliveries() if not each.in_transaction]
    executor.after_commit(lambda: _publish(executor, batch, others))


@sync_or_async
async def send(executor: Executor, events: Iterable[Event], seconds: float, to: Sequence[Delivery]) -> None:
    """Deliver events to sinks, within this time for all of them."""
    batch = [event for event in events if is_selected(event)]
    end = monotonic() + seconds
    for delivery in to if batch else ():
        await delivery.send(batch, executor, end - monotonic())


async def _publish(executor: Executor, events: Sequence[Event], to: Sequence[Delivery]) -> None:
    for event in events:
        hooks.call(event)
    await send(executor, events, SECONDS, to)


def _deliveries() -> Sequence[Delivery]:
    return deliveries(EVENTS.read())


class EventBuffer:
    """Gets the events of a worker: calls hooks at once, and delivers to sinks between jobs and at the end."""

    def __init__(self, database: Database, hook: Hook, end: float) -> None:
        """Buffer events for a worker whose last monotonic second is `end`."""
        self._database, self._hook, self._end = database, hook, end
        self._to = _deliveries()
        hooks.load()
        # What gets the events: empty if nothing does. A handler's module may register hooks at any time.
        self.listeners: Collection[object] = (
            (hook, *self._to) if hook is not ignore or self._to else hooks.registered()
        )
        self._waiting: deque[Event] = deque()
        self._sent = monotonic()
        # Another thread may not use the connection while a handler runs.
        self._owner = get_ident()

    def __call__(self, event: Event) -> None:
        """Take an event. After the end of an attempt, send events that have waited for a second."""
        self._hook(event)
        hooks.call_registered(event)
        if self._to:
            self._waiting.append(event)
        late = monotonic() - self._sent > BUFFER_SECONDS
        if late and event.name not in ("claimed", "extended") and get_ident() == self._owner:
            self.send()

    def send(self) -> None:
        """Send the buffered events in the worker's remaining time; events that do not fit into it are dropped."""
        # Another thread may append to it.
        events = [self._waiting.popleft() for _ in range(len(self._waiting))]
        self._sent = monotonic()
        if events:
            send(self._database, events, min(SECONDS, self._end - self._sent), self._to)
