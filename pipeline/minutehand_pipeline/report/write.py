"""Write a report: a folder that is there whole or not at all, and never in the place of something else."""

import json
import os
import shutil
from collections.abc import Sequence
from datetime import date, datetime
from pathlib import Path
from tempfile import mkdtemp
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from minutehand_pipeline.errors import InputError
from minutehand_pipeline.report.config import ReportResult
from minutehand_pipeline.report.page import render
from minutehand_pipeline.report.summary import MADE_BY
from minutehand_pipeline.report.tables import (
    COUNT,
    DAY,
    MOMENT,
    NUMBER,
    TABLES,
    TEXT,
    TEXTS,
    TRUTH,
    Table,
    json_schema,
)  # fmt: skip

MARK = "report.json"

ARROW_TYPES = {
    COUNT: pa.int64(), NUMBER: pa.float64(), TEXT: pa.string(), DAY: pa.date32(), TRUTH: pa.bool_(),
    MOMENT: pa.timestamp("us", tz="UTC"), TEXTS: pa.list_(pa.string()),
}  # fmt: skip


def check_folder(folder: Path) -> None:
    """Raise InputError unless the folder may be written: it is not there, empty, or an earlier report.

    Nothing is left there, but a folder is made beside it for a moment: only that shows whether one can be.
    """
    try:
        _check(folder)
    except OSError as error:
        raise InputError(f"{folder} cannot be written: {error.strerror}; say another --out") from None


def _check(folder: Path) -> None:
    is_there = folder.exists() or folder.is_symlink()
    if is_there and (not folder.is_dir() or (any(folder.iterdir()) and not _is_report(folder))):
        raise InputError(f"{folder} is there and is no report: say another --out, or remove it")
    beside = next(each for each in folder.absolute().parents if each.exists())
    if not beside.is_dir():
        raise InputError(f"{beside} is a file, and no folder can be in it: say another --out")
    Path(mkdtemp(prefix=f".{folder.name}.", dir=beside)).rmdir()


def write_folder(folder: Path, result: ReportResult, busiest: Sequence[float]) -> None:
    """Write everything beside the folder, then put it in its place; an earlier report goes only then."""
    folder = folder.absolute()
    folder.parent.mkdir(parents=True, exist_ok=True)
    fresh = Path(mkdtemp(prefix=f".{folder.name}.", dir=folder.parent))
    try:
        fresh.chmod(0o755)
        (fresh / "index.html").write_text(render(result, busiest), "utf-8")
        for name, rows in result.tables.items():
            _write_table(fresh / "tables", TABLES[name], rows)
        (fresh / "schema.json").write_text(_json(json_schema()))
        (fresh / MARK).write_text(_json(result.summary))
        _put(fresh, folder)
    finally:
        shutil.rmtree(fresh, ignore_errors=True)


def arrow_schema(table: Table) -> pa.Schema:
    """Return the schema of a table's Parquet file."""
    return pa.schema([
        pa.field(each.name, ARROW_TYPES[each.type], metadata={"comment": each.meaning}) for each in table.columns
    ])  # fmt: skip


def _write_table(folder: Path, table: Table, rows: list[dict[str, Any]]) -> None:
    folder.mkdir(exist_ok=True)
    pq.write_table(pa.Table.from_pylist(rows, schema=arrow_schema(table)), folder / f"{table.name}.parquet")
    (folder / f"{table.name}.json").write_text(_json(rows))


def _put(fresh: Path, folder: Path) -> None:
    """Swap the folders; what was there may be looked at until the moment in which the new one has its name."""
    check_folder(folder)
    if not folder.exists():
        fresh.rename(folder)
        return
    old = Path(mkdtemp(prefix=f".{folder.name}.", dir=folder.parent))
    os.replace(folder, old)  # noqa: PTH105, which a folder that is empty allows
    fresh.rename(folder)
    shutil.rmtree(old)


def _is_report(folder: Path) -> bool:
    try:
        said = json.loads((folder / MARK).read_text())
    except (OSError, ValueError):
        return False
    return isinstance(said, dict) and said.get("made_by") == MADE_BY


def _json(value: Any) -> str:
    return json.dumps(value, default=_plain, indent=1, ensure_ascii=False, allow_nan=False) + "\n"


def _plain(value: Any) -> str:
    if isinstance(value, datetime | date):
        return value.isoformat()
    raise TypeError(f"{type(value).__name__} is no value of a report")
