"""A table of the lake: read its state, commit batches to it, erase values from its rows."""

import json
from collections.abc import Collection, Iterable, Iterator, Mapping
from datetime import date, timedelta
from functools import cached_property
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
from deltalake import DeltaTable
from deltalake.fs import DeltaStorageHandler
from deltalake.transaction import CommitProperties, Transaction
from pyarrow.fs import PyFileSystem

from minutehand_pipeline.errors import LakeError
from minutehand_pipeline.lake.delta import (
    PARTITION,
    DataFile,
    add_action,
    delta_schema,
    list_files,
    literal,
    table_properties,
    translated_errors,
    type_name,
)
from minutehand_pipeline.lake.rows import has_value, match_all, match_any
from minutehand_pipeline.lake.unfinished import delete_unfinished
from minutehand_pipeline.schemas import Home

# The key under which a commit stores the facts of its batch.
FACTS = "minutehand"


class Table:
    """One table of the lake. Every method reads the current state, so it sees what other runs committed."""

    def __init__(self, uri: str, home: Home, options: dict[str, str] | None) -> None:
        """Store the table's location, its home and the object store options."""
        self.uri, self.home, self.options = uri, home, options

    @cached_property
    def filesystem(self) -> PyFileSystem:
        """The file system whose paths are relative to the table's folder."""
        if "://" not in self.uri:
            Path(self.uri).mkdir(parents=True, exist_ok=True)
        return PyFileSystem(DeltaStorageHandler(self.uri, self.options))

    @property
    def exists(self) -> bool:
        """Whether anything was ever committed."""
        with translated_errors(self.uri):
            return DeltaTable.is_deltatable(self.uri, self.options)

    @property
    def id(self) -> str:
        """The table's id. It stays the same when the folder is moved."""
        return str(self._open().metadata().id)

    @property
    def owner(self) -> str:
        """The owner that was given when the table was created."""
        return str(self._open().metadata().description or "")

    def number(self, app: str) -> int:
        """Return the number of the last batch that `app` committed, or 0."""
        return (self._open().transaction_version(app) or 0) if self.exists else 0

    def columns(self) -> list[str]:
        """Return the names of the table's columns that the home's schema knows.

        Raises LakeError if a column has another type, or if the files need a newer reader.
        """
        return [name for name in self._column_types(self._open()) if name in self.home.schema.names]

    def files(
        self, since: date | None = None, until: date | None = None, days: Iterable[date] | None = None
    ) -> list[DataFile]:
        """Return the data files, optionally of some UTC days only. `until` is included."""
        if not self.exists:
            return []
        wanted = None if days is None else frozenset(days)
        return [
            file
            for file in list_files(self._open())
            if (since is None or file.day >= since)
            and (until is None or file.day <= until)
            and (wanted is None or file.day in wanted)
        ]

    def create(self, owner: str = "") -> None:
        """Create the table, empty and with a permanent owner, unless it exists."""
        if self.exists:
            return
        with translated_errors(self.uri):
            DeltaTable.create(
                self.uri,
                delta_schema(self.home),
                mode="ignore",
                partition_by=[PARTITION],
                name=self.home.lake,
                description=owner,
                configuration=table_properties(self.home),
                storage_options=self.options,
            )

    def add_missing_columns(self) -> list[str]:
        """Add the columns that an older version did not have, and return their names.

        Raises LakeError if the table has columns or types that this version does not know.
        """
        table = self._open()
        known = self._column_types(table)
        if unknown := [name for name in known if name not in self.home.schema.names]:
            raise LakeError(
                f"{self.uri} has the column {unknown[0]}, which a newer version of minutehand added: "
                "upgrade minutehand, then archive"
            )
        new = [each for each in delta_schema(self.home).fields if each.name not in known]
        if new:
            with translated_errors(self.uri):
                table.alter.add_columns(new)
        return [each.name for each in new]

    def commit(
        self, files: Iterable[DataFile], *, app: str, number: int, facts: Mapping[str, Any] | None = None
    ) -> None:
        """Add data files to the table, all or none, as batch `number` of `app`. Store `facts` with the commit.

        The number must be one more than the last. Raises LakeError if it is not, and BusyError if another run
        commits the same number at the same time. Both checks are needed: delta-rs makes neither alone.
        """
        table = self._open()
        last = table.transaction_version(app) or 0
        if number != last + 1:
            raise LakeError(f"cannot commit batch {number} of {app} to {self.uri}: its last batch is {last}")
        properties = CommitProperties(
            custom_metadata={FACTS: json.dumps({"app": app, "number": number, **(facts or {})})},
            app_transactions=[Transaction(app, number)],
        )
        with translated_errors(self.uri, fenced=f"batch {number} of {app}"):
            table.create_write_transaction(
                [add_action(file) for file in files],
                "append",
                table.schema(),
                partition_by=[PARTITION],
                commit_properties=properties,
            )

    def facts(self, app: str, number: int) -> dict[str, Any]:
        """Return the facts that were stored with a batch. Raises LakeError if the log does not have them."""
        for entry in self._open().history():
            stored = json.loads(entry.get(FACTS) or "{}")
            if (stored.get("app"), stored.get("number")) == (app, number):
                return dict(stored)
        raise LakeError(f"the log of {self.uri} has no facts of batch {number} of {app}")

    def vacuum(self, retention: timedelta, *, dry_run: bool = False) -> int:
        """Delete unreferenced files that are older than `retention`, and return how many.

        No other run may be writing: its files look like those of a killed run.
        """
        hours = int(retention.total_seconds() // 3600)
        with translated_errors(self.uri):
            deleted = self._open().vacuum(hours, dry_run=dry_run, enforce_retention_duration=False, full=True)
            return len(deleted) + delete_unfinished(self.uri, retention, dry_run=dry_run)

    def compact(self, days: Iterable[date], size: int) -> None:
        """Merge files of some UTC days that are smaller than `size` bytes, in one commit."""
        wanted = [(PARTITION, "in", [day.isoformat() for day in days])]
        with translated_errors(self.uri, fenced="the compaction"):
            self._open().optimize.compact(wanted, target_size=size, max_concurrent_tasks=1)

    def find(self, column: str, where: Mapping[str, str]) -> list[str]:
        """Return a column's values in the rows where other columns have the given values."""
        return [
            value
            for rows in self._rows([column, *where])
            for value in rows.filter(match_all(rows, where))[column].to_pylist()
        ]

    def count_erasable(self, columns: Iterable[str], where: Mapping[str, Collection[str]]) -> int:
        """Return how many rows `erase` would change."""
        wanted = list(columns)
        return sum(
            pc.sum(pc.and_(match_any(rows, where), has_value(rows, wanted))).as_py() or 0
            for rows in self._rows([*wanted, *where])
        )

    def erase(
        self, columns: Iterable[str], where: Mapping[str, Collection[str]], days: Iterable[date]
    ) -> int:
        """Set columns to null in rows of these days where a column has one of its values; return how many changed.

        The old files remain until `vacuum`. The memory grows with the days, whose files are written at the same time.
        """
        within = ", ".join(literal(day.isoformat()) for day in days)
        predicate = " or ".join(
            f"{name} in ({', '.join(map(literal, values))})" for name, values in where.items()
        )
        table = self._open()
        existing = [name for name in columns if name in self._column_types(table)]
        changed = " or ".join(f"{name} is not null" for name in existing)
        with translated_errors(self.uri, fenced="the erasure"):
            metrics = table.update(
                updates=dict.fromkeys(existing, "null"),
                predicate=f"{PARTITION} in ({within}) and ({predicate}) and ({changed})",
            )
        return int(metrics["num_updated_rows"])

    def _rows(self, columns: list[str]) -> Iterator[pa.Table]:
        """Read text columns, one file at a time. A column that a file lacks is null."""
        schema = pa.schema([(name, pa.string()) for name in dict.fromkeys(columns)])
        for file in self.files():
            with translated_errors(self.uri), self.filesystem.open_input_file(file.path) as opened:
                rows = pq.read_table(opened, columns=schema.names)
            yield pa.table({name: _text_column(rows, name) for name in schema.names})

    def _open(self) -> DeltaTable:
        with translated_errors(self.uri):
            table = DeltaTable(self.uri, storage_options=self.options)
        reader = table.protocol().min_reader_version
        if reader > 1:
            raise LakeError(
                f"{self.uri} requires Delta reader version {reader}; supported: 1. Something has changed the table: "
                "remove deletion vectors and column mapping from it"
            )
        return table

    def _column_types(self, table: DeltaTable) -> dict[str, str]:
        """Return the types of the table's columns. Raises LakeError if one differs from the home's schema."""
        found = {each.name: type_name(each) for each in table.schema().fields}
        for each in delta_schema(self.home).fields:
            expected = type_name(each)
            if found.get(each.name, expected) != expected:
                raise LakeError(
                    f"column {each.name} of {self.uri} has type {found[each.name]}, expected {expected}: "
                    "a newer version of minutehand wrote it; upgrade minutehand"
                )
        return found


def _text_column(rows: pa.Table, name: str) -> pa.ChunkedArray:
    if name in rows.column_names:
        return rows[name].cast(pa.string())
    return pa.nulls(rows.num_rows, pa.string())
