"""The ledger of batches in the database, and its reconciliation with the lake."""

from dataclasses import dataclass
from datetime import date
from typing import Any

from minutehand.database import Database
from minutehand_pipeline.archive.sums import Sums
from minutehand_pipeline.errors import LakeError
from minutehand_pipeline.lake import Table
from minutehand_pipeline.schemas import Home
from minutehand_pipeline.statements import run_statement

# The application id under which the lake's table counts batches.
APP = "minutehand"


@dataclass(frozen=True)
class Batch:
    """Rows of one day of one home.

    `written` sums the rows of the batch. `present` sums all rows that the day had in the database at `snapshot`.
    """

    home: Home
    number: int
    day: date
    written: Sums
    present: Sums
    snapshot: str

    def facts(self) -> dict[str, Any]:
        """Return what the commit stores, so that the next run can complete the ledger after a kill."""
        return {
            "day": self.day.isoformat(),
            "rows": self.written.rows,
            "checksum": str(self.written.checksum),
            "identity": str(self.written.identity),
            "present_rows": self.present.rows,
            "present_identity": str(self.present.identity),
            "snapshot": self.snapshot,
        }


def reconcile(database: Database, table: Table, *, dry_run: bool = False) -> int:
    """Return the number of the last batch, after making the ledger agree with the lake.

    A ledger that is one batch behind is completed: a run was killed after its commit. Any other difference raises
    LakeError and changes nothing: it is another lake, or one of the two is an older copy.
    """
    last = run_statement(database, "archive_last", home=table.home.name)
    if not last:
        _start_ledger(database, table, dry_run=dry_run)
        return 0
    number, table_id = last[0]["number"], last[0]["lake"]
    if not table.exists or table.id != table_id:
        raise LakeError(
            f"{table.uri} must be the table to which {table.home.name} was archived, with the id {table_id}, "
            f"got {table.id if table.exists else 'no table'}; pass the lake that has it (a moved table keeps its id)"
        )
    committed = table.number(APP)
    if committed == number + 1:
        if not dry_run:
            _record(database, table, committed, table.facts(APP, committed))
    elif committed != number:
        raise LakeError(
            f"the last batch of {table.uri} is {committed}, but the database's is {number}: one of them is an older "
            "copy; nothing was changed"
        )
    return committed


def record_batch(database: Database, table: Table, batch: Batch) -> None:
    """Write a committed batch to the ledger."""
    _record(database, table, batch.number, batch.facts())


def fence(database: Database, table: Table) -> None:
    """Use up the next batch number, so that a run that lost the lock but is still working cannot commit."""
    number = reconcile(database, table) + 1
    table.commit([], app=APP, number=number)
    _record(database, table, number, {})


def record_day(database: Database, home: Home, day: date, present: Sums, snapshot: str | None = None) -> None:
    """Record that the lake has every row of a day, as of now or of a snapshot, without a batch."""
    run_statement(
        database,
        "archive_seen",
        home=home.name,
        day=day,
        there=present.rows,
        seen=present.identity,
        snapshot=snapshot,
    )


def _start_ledger(database: Database, table: Table, *, dry_run: bool) -> None:
    if table.number(APP):
        raise LakeError(
            f"{table.uri} has batches that are not in this database's ledger: it is another queue's lake, or the rows "
            "of minutehand.archive_batches were lost; choose another folder"
        )
    found = run_statement(database, "archive_queue", home=table.home.name, dry_run=dry_run)
    if table.exists and [table.owner] != [row["queue"] for row in found]:
        raise LakeError(f"{table.uri} is another queue's lake; choose another folder")
    if not dry_run:
        table.create(found[0]["queue"])
        _record(database, table, 0, {})


def _record(database: Database, table: Table, number: int, facts: dict[str, Any]) -> None:
    run_statement(
        database,
        "archive_note",
        home=table.home.name,
        number=number,
        lake=table.id,
        day=facts.get("day"),
        rows=facts.get("rows", 0),
        checksum=_integer(facts.get("checksum")),
        identity=_integer(facts.get("identity")),
        there=facts.get("present_rows"),
        seen=_integer(facts.get("present_identity")),
        snapshot=facts.get("snapshot"),
    )


def _integer(text: str | None) -> int | None:
    return None if text is None else int(text)
