"""A table of the lake: what is in it, what is added to it, and what is taken out of its rows."""

import json
from collections.abc import Collection, Iterable, Iterator, Mapping
from datetime import date, timedelta
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

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
    added,
    files_of,
    literal,
    schema_of,
    told,
    type_of,
)
from minutehand_pipeline.lake.rows import all_of, any_of, filled
from minutehand_pipeline.schemas import Home

if TYPE_CHECKING:
    from minutehand_pipeline.lake import Lake

FACTS = "minutehand"  # under this name a commit tells what it holds

# A commit's log stays: it tells what a batch held, which a killed run's successor asks for.
CONFIGURATION = {"delta.enableExpiredLogCleanup": "false"}


class Table:
    """One table of the lake. Every method looks at it anew, and so sees what others committed."""

    def __init__(self, lake: "Lake", home: Home) -> None:
        """Remember where it is."""
        self.lake, self.home = lake, home
        self.uri = f"{lake.path.rstrip('/')}/{home.lake}"

    @cached_property
    def filesystem(self) -> PyFileSystem:
        """Where the data files are, by their paths below the table's folder."""
        if self.lake.local:
            Path(self.uri).mkdir(parents=True, exist_ok=True)
        return PyFileSystem(DeltaStorageHandler(self.uri, self.lake.options))

    @property
    def exists(self) -> bool:
        """Whether anything was ever committed."""
        with told(self.uri):
            return DeltaTable.is_deltatable(self.uri, self.lake.options)

    @property
    def id(self) -> str:
        """What tells this table from another one in the same place; it stays when the folder is moved."""
        return str(self._open().metadata().id)

    def number(self, app: str) -> int:
        """Return the number of the last batch that `app` committed; 0 when there was none."""
        return (self._open().transaction_version(app) or 0) if self.exists else 0

    def columns(self) -> list[str]:
        """Return the names of the columns that the table has, of those that the home's schema knows.

        Raises LakeError where one has another type, or where the files cannot be read by themselves.
        """
        return [name for name in self._known(self._open()) if name in self.home.schema.names]

    def files(
        self, since: date | None = None, until: date | None = None, days: Iterable[date] | None = None
    ) -> list[DataFile]:
        """Return the data files, those of some UTC days only; `until` is the last of them."""
        if not self.exists:
            return []
        wanted = None if days is None else frozenset(days)
        return [
            file
            for file in files_of(self._open())
            if (since is None or file.day >= since)
            and (until is None or file.day <= until)
            and (wanted is None or file.day in wanted)
        ]

    @property
    def owner(self) -> str:
        """Whose it is, as was said when it was made."""
        return str(self._open().metadata().description or "")

    def create(self, owner: str = "") -> None:
        """Make the table, empty and for good that owner's, unless it is there."""
        if self.exists:
            return
        with told(self.uri):
            DeltaTable.create(
                self.uri, schema_of(self.home), mode="ignore", partition_by=[PARTITION], name=self.home.lake,
                description=owner, configuration=CONFIGURATION, storage_options=self.lake.options,
            )  # fmt: skip

    def adopt(self) -> list[str]:
        """Give an older table the columns that came later, and return their names.

        Raises LakeError where it has columns or types that this code does not know: it is from a later one.
        """
        table = self._open()
        known = self._known(table)
        if strange := [name for name in known if name not in self.home.schema.names]:
            raise LakeError(
                f"{self.uri} has the column {strange[0]}, which this version does not know: a later one wrote it; "
                "upgrade minutehand here, then archive"
            )
        new = [each for each in schema_of(self.home).fields if each.name not in known]
        if new:
            with told(self.uri):
                table.alter.add_columns(new)
        return [each.name for each in new]

    def commit(
        self, files: Iterable[DataFile], *, app: str, number: int, facts: Mapping[str, Any] | None = None
    ) -> None:
        """Add data files to the table, all or none, as batch `number` of `app`; `facts` are kept with the commit.

        The number is one more than the last. Raises LakeError where it is not, and BusyError where another run
        commits the same number at this moment: the two are one fence, since delta-rs looks at neither but together.
        """
        table = self._open()
        last = table.transaction_version(app) or 0
        if number != last + 1:
            raise LakeError(
                f"{self.uri} is at batch {last} of {app}, so that batch {number} cannot be committed"
            )
        properties = CommitProperties(
            custom_metadata={FACTS: json.dumps({"app": app, "number": number, **(facts or {})})},
            app_transactions=[Transaction(app, number)],
        )
        with told(self.uri, fenced=f"batch {number} of {app}"):
            table.create_write_transaction(
                [added(file) for file in files], "append", table.schema(), partition_by=[PARTITION],
                commit_properties=properties,
            )  # fmt: skip

    def facts(self, app: str, number: int) -> dict[str, Any]:
        """Return what was kept with the commit of a batch; LakeError where the log does not have it."""
        for entry in self._open().history():
            kept = json.loads(entry.get(FACTS) or "{}")
            if (kept.get("app"), kept.get("number")) == (app, number):
                return dict(kept)
        raise LakeError(f"the log of {self.uri} does not say what batch {number} of {app} held")

    def vacuum(self, keep: timedelta, *, dry_run: bool = False) -> int:
        """Delete the files that no commit has, or has no more, once they are so old; return how many.

        No other run may be writing files meanwhile: nothing tells those from what a killed one left.
        """
        hours = int(keep.total_seconds() // 3600)
        with told(self.uri):
            gone = self._open().vacuum(hours, dry_run=dry_run, enforce_retention_duration=False, full=True)
        return len(gone)

    def find(self, column: str, where: Mapping[str, str]) -> list[str]:
        """Return the texts of a column in the rows where others are these values."""
        return [
            found
            for rows in self._rows([column, *where])
            for found in rows.filter(all_of(rows, where))[column].to_pylist()
        ]

    def would_erase(self, columns: Iterable[str], where: Mapping[str, Collection[str]]) -> int:
        """Return how many rows `erase` would change."""
        wanted = list(columns)
        return sum(
            pc.sum(pc.and_(any_of(rows, where), filled(rows, wanted))).as_py() or 0
            for rows in self._rows([*wanted, *where])
        )

    def erase(self, columns: Iterable[str], where: Mapping[str, Collection[str]]) -> int:
        """Null columns of the rows of which a column has one of its values, and return how many rows had any.

        The old files stay until `vacuum`.
        """
        if not self.exists:
            return 0
        predicate = " or ".join(
            f"{name} in ({', '.join(map(literal, values))})" for name, values in where.items()
        )
        table = self._open()
        had = [name for name in columns if name in self._known(table)]
        changed = " or ".join(f"{name} is not null" for name in had)
        with told(self.uri, fenced="the erasure"):
            metrics = table.update(
                updates=dict.fromkeys(had, "null"),
                predicate=f"({predicate}) and ({changed})",
            )
        return int(metrics["num_updated_rows"])

    def _rows(self, columns: list[str]) -> Iterator[pa.Table]:
        """Read columns of texts, a file at a time, as what is in them and not as whoever wrote them has them."""
        schema = pa.schema([(name, pa.string()) for name in dict.fromkeys(columns)])
        for file in self.files():
            with told(self.uri), self.filesystem.open_input_file(file.path) as opened:
                rows = pq.read_table(opened, columns=schema.names)
            yield pa.table(
                {
                    name: rows[name].cast(pa.string())
                    if name in rows.column_names
                    else pa.nulls(rows.num_rows, pa.string())
                    for name in schema.names
                }
            )

    def _open(self) -> DeltaTable:
        with told(self.uri):
            table = DeltaTable(self.uri, storage_options=self.lake.options)
        reader = table.protocol().min_reader_version
        if reader > 1:
            raise LakeError(
                f"{self.uri} wants Delta's reader version {reader}, and this version knows 1: something has "
                "changed the table; without deletion vectors and renamed columns it can be read again"
            )
        return table

    def _known(self, table: DeltaTable) -> dict[str, str]:
        """Return the types of the table's columns; those that the home's schema has are as it says."""
        found = {each.name: type_of(each) for each in table.schema().fields}
        for each in schema_of(self.home).fields:
            if found.get(each.name, type_of(each)) != type_of(each):
                raise LakeError(
                    f"{self.uri} has the column {each.name} as {found[each.name]}, and this version knows it as "
                    f"{type_of(each)}: a later one wrote it; upgrade minutehand here"
                )
        return found
