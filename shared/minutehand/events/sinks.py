"""Sinks: where events go by setting. None of them fails a job, or holds it up for long."""

import json
import logging
from collections.abc import Callable, Sequence
from functools import cache
from threading import Thread
from time import monotonic
from typing import Protocol
from urllib.parse import urlsplit

from minutehand.database import Database
from minutehand.errors import ConfigurationError, MinutehandError
from minutehand.model.event import NAMES, Event
from minutehand.settings.table import EVENTS_ONLY

SECONDS = 5.0  # the longest that events hold up whoever tells them
SHORTEST = 0.05
REST = 60.0  # what fails is let alone for so long, so that it costs a moment a minute

logger = logging.getLogger(__name__)


class Sink(Protocol):
    """Something that takes events in batches."""

    most: int

    def send(self, events: Sequence[Event]) -> None:
        """Hand over a batch; raise if it was not taken."""


class Delivery:
    """A sink and how it has been doing: bounded in time, let alone after a failure, its trouble logged once."""

    in_transactions = False

    def __init__(self, name: str, make: Callable[[], Sink]) -> None:
        """Name a sink, which is made when it is first sent something."""
        self.name, self._make = name, make
        self._sink: Sink | None = None
        self._resting = 0.0
        self._dropped = 0
        self._complained = False

    def send(self, events: Sequence[Event], database: Database, seconds: float) -> None:
        """Send events within these seconds, or drop them."""
        if monotonic() < self._resting or seconds < SHORTEST:
            self._dropped += len(events)
            return
        sent: list[int] = []
        try:
            self._send(events, database, sent, monotonic() + seconds)
        except Exception as error:
            self._failed(error, len(events) - sum(sent))
        else:
            self._succeeded()

    def _send(self, events: Sequence[Event], _database: Database, sent: list[int], end: float) -> None:
        """Wait no longer than that: a look-up of a name, or of credentials, knows no limit of its own."""
        raised: list[Exception] = []
        thread = Thread(target=self._try, args=[events, sent, end, raised], daemon=True)
        thread.start()
        thread.join(max(0.0, end - monotonic()))
        if thread.is_alive():
            self._sink = None  # the one at work stays that thread's
            raise TimeoutError("it took too long")
        if raised:
            raise raised[0]

    def _try(self, events: Sequence[Event], sent: list[int], end: float, raised: list[Exception]) -> None:
        try:
            sink = self._sink = self._sink or self._make()
            for start in range(0, len(events), sink.most):
                if monotonic() > end:
                    raise TimeoutError("there were more events than time")
                batch = events[start : start + sink.most]
                sink.send(batch)
                sent.append(len(batch))
        except Exception as error:
            raised.append(error)

    def _failed(self, error: Exception, unsent: int) -> None:
        if not self._complained:
            # Errors of others may quote a URL, which may be secret.
            ours = isinstance(error, MinutehandError | TimeoutError)
            why = f"{type(error).__name__}: {error}" if ours else type(error).__name__
            logger.warning("events are not sent to %s, and are dropped: %s", self.name, why)
        self._complained = True
        self._resting = monotonic() + REST
        self._dropped += unsent

    def _succeeded(self) -> None:
        if self._dropped:
            logger.warning("events are sent to %s again; %d were dropped", self.name, self._dropped)
        self._resting, self._dropped, self._complained = 0.0, 0, False


class Table(Delivery):
    """The table minutehand.events, in the caller's own transaction if there is one."""

    in_transactions = True

    def __init__(self) -> None:
        """Make nothing: the caller's database is used."""
        super().__init__("table", _no_sink)

    def _send(self, events: Sequence[Event], database: Database, _sent: list[int], _end: float) -> None:
        # In this thread, whose connection it is; the statement gives up by itself.
        told = json.dumps([event.to_json() for event in events])
        if not database.in_transaction:
            database.run("store_events", told=told)
            return
        # A savepoint: what fails here must not take the caller's transaction with it.
        with database.transaction():
            database.run("store_events", told=told)


def wanted(event: Event) -> bool:
    """Whether the setting MINUTEHAND_EVENTS_ONLY lets an event through; empty, it lets all."""
    only = _only(EVENTS_ONLY.read())
    return not only or event.name in only


@cache
def deliveries(setting: str) -> tuple[Delivery, ...]:
    """Return what MINUTEHAND_EVENTS names, by commas; what makes no sense is logged, once, and left out.

    eventbridge:<name or ARN of a bus>, sns:<ARN of a topic>, webhook:<URL>, table
    """
    opened = []
    for text in _parts(setting):
        try:
            opened.append(_outlet(text))
        except ConfigurationError as error:
            logger.error("MINUTEHAND_EVENTS: %s", error)
    return tuple(opened)


def _outlet(text: str) -> Delivery:
    kind, _, where = text.partition(":")
    match kind, bool(where):
        case "table", False:
            return Table()
        case "webhook", True:
            return Delivery(f"webhook:{_origin(where)}", lambda: _webhook(where))
        case "eventbridge" | "sns", True:
            return Delivery(text, lambda: _aws(kind, where))
    raise ConfigurationError("a sink is table, webhook:<URL>, eventbridge:<bus> or sns:<ARN of a topic>")


def _origin(url: str) -> str:
    """Return what may be shown of a URL."""
    try:
        parts = urlsplit(url)
        if parts.scheme in ("http", "https") and parts.hostname:
            port = f":{parts.port}" if parts.port else ""
            return f"{parts.scheme}://{parts.hostname}{port}"
    except ValueError:
        pass
    raise ConfigurationError("the webhook's URL does not begin with https:// or http:// and a host")


def _webhook(url: str) -> Sink:
    from minutehand.events.webhooks import Webhook

    return Webhook(url)


def _aws(kind: str, where: str) -> Sink:
    # Imported here, so that who sends nothing there does not pay for boto3.
    from minutehand.aws import EventBus, Topic

    return EventBus(where) if kind == "eventbridge" else Topic(where)


def _no_sink() -> Sink:
    raise NotImplementedError


@cache
def _only(setting: str) -> frozenset[str]:
    names = frozenset(_parts(setting))
    if unknown := sorted(names - {*NAMES}):
        logger.error("MINUTEHAND_EVENTS_ONLY: no event is called %s", " or ".join(unknown))
    return names


def _parts(setting: str) -> list[str]:
    return [part.strip() for part in setting.split(",") if part.strip()]
