"""The ledger: which batches Postgres knows to be in which lake, and what to do when the lake knows another one."""

from dataclasses import dataclass
from datetime import date
from typing import Any

from minutehand.database import Database
from minutehand_pipeline.archive.sums import Sums
from minutehand_pipeline.errors import LakeError
from minutehand_pipeline.lake import Table
from minutehand_pipeline.schemas import Home
from minutehand_pipeline.statements import run

APP = "minutehand"  # whose batches the lake's table counts


@dataclass(frozen=True)
class Batch:
    """Rows of one day of one home: the number, what was written, and what the day then had in Postgres, as of when."""

    home: Home
    number: int
    day: date
    written: Sums
    there: Sums
    snapshot: str

    def facts(self) -> dict[str, Any]:
        """Return what the commit tells, for whoever has to write the ledger in a killed run's place."""
        return {
            "day": self.day.isoformat(),
            "rows": self.written.rows,
            "checksum": str(self.written.checksum),
            "identity": str(self.written.identity),
            "there": self.there.rows,
            "seen": str(self.there.identity),
            "snapshot": self.snapshot,
        }


def settle(database: Database, table: Table, *, dry_run: bool = False) -> int:
    """Return the number of the last batch, once the ledger and the lake agree about it.

    The ledger one behind is a run that was killed after its commit, and is written now. Any other difference raises
    LakeError, and nothing is done: another lake, or one of the two is an older copy.
    """
    name, uri = table.home.name, table.uri
    known = run(database, "archive_last", home=name)
    if not known:
        if table.number(APP):
            raise LakeError(
                f"{uri} has batches that this database knows nothing of: it is another queue's lake, or the ledger "
                "minutehand.archive_batches was lost; choose another folder"
            )
        found = run(database, "archive_queue", home=name, dry_run=dry_run)
        if table.exists and [table.owner] != [row["queue"] for row in found]:
            raise LakeError(f"{uri} is another queue's lake; choose another folder")
        if not dry_run:
            table.create(found[0]["queue"])
            _note(database, table, 0, {})
        return 0
    last, lake = known[0]["number"], known[0]["lake"]
    if not table.exists or table.id != lake:
        raise LakeError(
            f"{uri} is not the table that {name} was carried to before, which has the id {lake}; say where that one "
            "is now (a table that was moved keeps its id)"
        )
    number = table.number(APP)
    if number == last + 1:
        if not dry_run:
            _note(database, table, number, table.facts(APP, number))
        return number
    if number != last:
        raise LakeError(
            f"{uri} is at batch {number} and the database at {last}: one of them is an older copy; nothing was done"
        )
    return number


def note(database: Database, table: Table, batch: Batch) -> None:
    """Write a batch that the lake has into the ledger."""
    _note(database, table, batch.number, batch.facts())


def fence(database: Database, table: Table) -> None:
    """Take the next number for nothing, so that whoever had it in mind commits no more.

    Who lost the archivers' lock, with its connection, may be at work still.
    """
    number = settle(database, table) + 1
    table.commit([], app=APP, number=number)
    _note(database, table, number, {})


def note_seen(database: Database, home: Home, day: date, there: Sums, snapshot: str | None = None) -> None:
    """Write that the lake has every row that a day has, or had for a snapshot, without a batch."""
    run(
        database, "archive_seen", home=home.name, day=day, there=there.rows, seen=there.identity,
        snapshot=snapshot,
    )  # fmt: skip


def _note(database: Database, table: Table, number: int, facts: dict[str, Any]) -> None:
    run(
        database, "archive_note", home=table.home.name, number=number, lake=table.id, day=facts.get("day"),
        rows=facts.get("rows", 0), checksum=_exact(facts.get("checksum")), identity=_exact(facts.get("identity")),
        there=facts.get("there"), seen=_exact(facts.get("seen")), snapshot=facts.get("snapshot"),
    )  # fmt: skip


def _exact(said: str | None) -> int | None:
    return None if said is None else int(said)
