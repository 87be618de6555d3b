"""The database under examination: each of the doctor's statements is asked once."""

from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from functools import cached_property
from time import monotonic

from minutehand.database import Database, Record
from minutehand.database.wire import Wire, wire


def this_machine() -> datetime:
    """Return the moment by this machine's clock."""
    return datetime.now(UTC)


@dataclass
class Patient:
    """A database, another session at it, and what is expected of it.

    `capacity` is how many workers may open a connection at once, `patience` how long a transaction may be open;
    `stacked` says that a dispatcher on AWS belongs to it; `now` is this machine's clock.
    """

    database: Database
    another: Database
    capacity: int
    patience: timedelta = timedelta(seconds=60)
    stacked: bool = False
    now: Callable[[], datetime] = this_machine
    told: dict[str, list[Record]] = field(default_factory=dict)

    def ask_all(self, statement: str) -> list[Record]:
        """Return what a statement without parameters says."""
        if statement not in self.told:
            self.told[statement] = self.database.run(statement)
        return self.told[statement]

    def ask(self, statement: str) -> Record:
        """Return the one row that a statement says."""
        return self.ask_all(statement)[0]

    @cached_property
    def wire(self) -> Wire:
        """How the database is reached."""
        return wire(self.database)

    @cached_property
    def milliseconds(self) -> tuple[int, int]:
        """How long it takes to connect, and then to be answered."""
        began = monotonic()
        assert self.database.connection
        opened = monotonic()
        self.database.run("clock")
        return round((opened - began) * 1000), round((monotonic() - opened) * 1000)
