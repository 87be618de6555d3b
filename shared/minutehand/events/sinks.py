"""Sinks: the services that MINUTEHAND_EVENTS names. No sink can fail a job, or delay it for long."""

import json
import logging
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from functools import cache
from threading import Thread
from time import monotonic
from typing import Protocol
from urllib.parse import urlsplit

from minutehand.database import Executor
from minutehand.errors import ConfigurationError, MinutehandError
from minutehand.model.event import NAMES, Event
from minutehand.settings.table import EVENTS_ONLY

# The time limit for one delivery to all sinks, and the shortest time in which one is tried.
SECONDS = 5.0
SHORTEST = 0.05
# A sink that failed is not tried again for this long, in seconds.
REST = 60.0

logger = logging.getLogger(__name__)


class Sink(Protocol):
    """Accepts events in batches of at most `limit`."""

    limit: int

    def send(self, events: Sequence[Event]) -> None:
        """Send a batch; raise if it was not accepted."""


class Delivery(ABC):
    """Delivers events to one sink, within a time limit. A sink that fails is logged once and rests for a while."""

    # Whether the sink belongs to the transaction in which the events occurred.
    in_transaction = False

    def __init__(self, name: str) -> None:
        """Name a sink; nothing is opened yet."""
        self.name = name
        self._resting = 0.0
        self._dropped = 0
        self._warned = False

    async def send(self, events: Sequence[Event], executor: Executor, seconds: float) -> None:
        """Send events within these seconds, or drop them."""
        if monotonic() < self._resting or seconds < SHORTEST:
            self._dropped += len(events)
            return
        sent: list[int] = []
        try:
            await self._send(events, executor, sent, monotonic() + seconds)
        except Exception as error:
            self._failed(error, len(events) - sum(sent))
        else:
            self._succeeded()

    @abstractmethod
    async def _send(self, events: Sequence[Event], executor: Executor, sent: list[int], end: float) -> None:
        """Send the events before `end`, and append the size of each batch that was sent to `sent`."""

    def _failed(self, error: Exception, unsent: int) -> None:
        if not self._warned:
            # Messages of other libraries may quote a URL that contains a secret.
            is_safe = isinstance(error, MinutehandError | TimeoutError)
            reason = f"{type(error).__name__}: {error}" if is_safe else type(error).__name__
            logger.warning("events for %s are dropped: %s", self.name, reason)
        self._warned = True
        self._resting = monotonic() + REST
        self._dropped += unsent

    def _succeeded(self) -> None:
        if self._dropped:
            logger.warning("events for %s are delivered again; %d were dropped", self.name, self._dropped)
        self._resting, self._dropped, self._warned = 0.0, 0, False


class SinkDelivery(Delivery):
    """Delivers to a service outside the database."""

    def __init__(self, name: str, make: Callable[[], Sink]) -> None:
        """Name a sink; `make` opens it at the first event."""
        super().__init__(name)
        self._make = make
        self._sink: Sink | None = None

    async def _send(self, events: Sequence[Event], executor: Executor, sent: list[int], end: float) -> None:
        await executor.block(lambda: self._send_in_thread(events, sent, end))

    def _send_in_thread(self, events: Sequence[Event], sent: list[int], end: float) -> None:
        """Send in a thread, since looking up a host or credentials has no time limit of its own."""
        raised: list[Exception] = []
        thread = Thread(target=self._try, args=[events, sent, end, raised], daemon=True)
        thread.start()
        thread.join(max(0.0, end - monotonic()))
        if thread.is_alive():
            # The sink stays with the thread that is still using it.
            self._sink = None
            raise TimeoutError("delivery timed out")
        if raised:
            raise raised[0]

    def _try(self, events: Sequence[Event], sent: list[int], end: float, raised: list[Exception]) -> None:
        try:
            sink = self._sink = self._sink or self._make()
            for start in range(0, len(events), sink.limit):
                if monotonic() > end:
                    raise TimeoutError("delivery timed out before the last event")
                batch = events[start : start + sink.limit]
                sink.send(batch)
                sent.append(len(batch))
        except Exception as error:
            raised.append(error)


class TableDelivery(Delivery):
    """Writes to the table minutehand.events, in the caller's transaction if there is one."""

    in_transaction = True

    def __init__(self) -> None:
        """Open nothing: the caller's database is used."""
        super().__init__("table")

    async def _send(self, events: Sequence[Event], executor: Executor, _sent: list[int], _end: float) -> None:
        # Not in another thread: the connection belongs to this one. The statement has its own time limit.
        text = json.dumps([event.to_json() for event in events])
        if not executor.in_transaction:
            await executor.run("store_events", events=text)
            return
        # A savepoint, so that a failure here does not abort the caller's transaction.
        async with executor.transaction():
            await executor.run("store_events", events=text)


def is_selected(event: Event) -> bool:
    """Return whether MINUTEHAND_EVENTS_ONLY lists the event, or is empty."""
    only = _only(EVENTS_ONLY.read())
    return not only or event.name in only


@cache
def deliveries(setting: str) -> tuple[Delivery, ...]:
    """Return the sinks that MINUTEHAND_EVENTS names, separated by commas. Invalid ones are logged and left out.

    eventbridge:<name or ARN of a bus>, sns:<ARN of a topic>, webhook:<URL>, table
    """
    found = []
    for text in _parts(setting):
        try:
            found.append(_delivery(text))
        except ConfigurationError as error:
            logger.error("MINUTEHAND_EVENTS: %s", error)
    return tuple(found)


def _delivery(text: str) -> Delivery:
    kind, _, where = text.partition(":")
    match kind, bool(where):
        case "table", False:
            return TableDelivery()
        case "webhook", True:
            return SinkDelivery(f"webhook:{_origin(where)}", lambda: _webhook(where))
        case "eventbridge" | "sns", True:
            return SinkDelivery(text, lambda: _aws(kind, where))
    raise ConfigurationError("a sink must be table, webhook:<URL>, eventbridge:<bus> or sns:<ARN of a topic>")


def _origin(url: str) -> str:
    """Return the part of a URL that contains no secret."""
    try:
        parts = urlsplit(url)
        if parts.scheme in ("http", "https") and parts.hostname:
            port = f":{parts.port}" if parts.port else ""
            return f"{parts.scheme}://{parts.hostname}{port}"
    except ValueError:
        pass
    raise ConfigurationError("the webhook's URL must begin with https:// or http:// and a host")


def _webhook(url: str) -> Sink:
    from minutehand.events.webhooks import Webhook

    return Webhook(url)


def _aws(kind: str, where: str) -> Sink:
    # Imported only when used: boto3 is slow to import.
    from minutehand.aws import EventBus, Topic

    return EventBus(where) if kind == "eventbridge" else Topic(where)


@cache
def _only(setting: str) -> frozenset[str]:
    names = frozenset(_parts(setting))
    if unknown := sorted(names - {*NAMES}):
        logger.error("MINUTEHAND_EVENTS_ONLY: unknown events: %s", ", ".join(unknown))
    return names


def _parts(setting: str) -> list[str]:
    return [part.strip() for part in setting.split(",") if part.strip()]
