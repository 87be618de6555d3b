"""Events: what happened goes to the hooks of this process, and after the commit to the sinks that a setting names."""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from time import monotonic

from minutehand.database import Database
from minutehand.events import hooks
from minutehand.events.sinks import SECONDS, Delivery, deliveries, wanted
from minutehand.model.event import Event, Hook
from minutehand.settings.table import EVENTS

BUFFER_SECONDS = 1.0


def publish(database: Database, events: Iterable[Event]) -> None:
    """Tell what was done: once it is committed, if the transaction is the library's; the table is told in it.

    Of what is done in a transaction of yours only the table is told, and rolls back with it. The events are not even
    made where nobody listens. Nothing that fails here comes through.
    """
    if not _outlets() and not hooks.has_hooks():
        return
    tenant: str = getattr(database, "tenant", "")
    told = [event if event.tenant or not tenant else replace(event, tenant=tenant) for event in events]
    if not database.in_transaction:
        _tell(database, told)
    else:
        send(database, told, SECONDS, [outlet for outlet in _outlets() if outlet.in_transactions])
        database.after_commit(lambda: _tell(database, told, [o for o in _outlets() if not o.in_transactions]))


def send(
    database: Database, told: Iterable[Event], seconds: float, to: Sequence[Delivery] | None = None
) -> None:
    """Send events to every sink, or to some, none of which takes longer than what is left of these seconds."""
    events = [event for event in told if wanted(event)]
    end = monotonic() + seconds
    for outlet in (_outlets() if to is None else to) if events else ():
        outlet.send(events, database, end - monotonic())


def _tell(database: Database, told: Sequence[Event], to: Sequence[Delivery] | None = None) -> None:
    for event in told:
        hooks.call(event)
    send(database, told, SECONDS, to)


def _outlets() -> Sequence[Delivery]:
    return deliveries(EVENTS.read())


class EventBuffer:
    """An observer that tells hooks at once, and gathers what sinks are to be told between jobs and at the end."""

    def __init__(self, database: Database, observer: Hook, end: float) -> None:
        """Gather for a worker whose last monotonic second is `end`."""
        self._database, self._observer, self._end = database, observer, end
        self._waiting: list[Event] = []
        self._sent = monotonic()

    def __call__(self, event: Event) -> None:
        """Tell of one event; after a job's end, send what has waited for a second."""
        self._observer(event)
        hooks.call(event)
        self._waiting.append(event)
        if event.name not in ("claimed", "extended") and monotonic() - self._sent > BUFFER_SECONDS:
            self.send()

    def send(self) -> None:
        """Send what was gathered, in the time that the worker has left; what it has none for is dropped."""
        told, self._waiting = self._waiting, []
        self._sent = monotonic()
        send(self._database, told, min(SECONDS, self._end - self._sent))
