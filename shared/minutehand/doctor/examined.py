"""The database that the doctor examines; each of its statements runs once."""

from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from functools import cached_property
from time import monotonic

from minutehand.database import Database, Record
from minutehand.database.wire import Wire, wire


def this_machine() -> datetime:
    """Return the time of this machine's clock."""
    return datetime.now(UTC)


@dataclass
class ExaminedDatabase:
    """A database, a second session if there is one, and the limits to check against.

    `capacity` is the number of workers that may connect at the same time, `longest_transaction` the time
    that a transaction may be open. `stacked` means that a dispatcher on AWS serves this database.
    `now` is this machine's clock.
    """

    database: Database
    another: Database | None
    capacity: int
    longest_transaction: timedelta = timedelta(seconds=60)
    stacked: bool = False
    now: Callable[[], datetime] = this_machine
    results: dict[str, list[Record]] = field(default_factory=dict)

    def query_all(self, statement: str) -> list[Record]:
        """Return the rows of a statement without parameters."""
        if statement not in self.results:
            self.results[statement] = self.database.run(statement)
        return self.results[statement]

    def query(self, statement: str) -> Record:
        """Return the only row of a statement."""
        return self.query_all(statement)[0]

    @cached_property
    def wire(self) -> Wire:
        """How the database is connected."""
        return wire(self.database)

    @cached_property
    def milliseconds(self) -> tuple[int, int]:
        """The milliseconds to connect, and to answer a statement."""
        began = monotonic()
        assert self.database.connection
        opened = monotonic()
        self.database.run("clock")
        return round((opened - began) * 1000), round((monotonic() - opened) * 1000)
