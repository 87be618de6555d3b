"""Write a report's folder, completely or not at all, and never over anything but an earlier report."""

import fcntl
import json
import os
import shutil
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from datetime import date, datetime
from glob import escape
from pathlib import Path
from tempfile import mkdtemp
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from minutehand_pipeline.arrow import arrow_schema
from minutehand_pipeline.errors import InputError
from minutehand_pipeline.report.config import ReportResult
from minutehand_pipeline.report.page import render
from minutehand_pipeline.report.summary import MADE_BY
from minutehand_pipeline.report.table import Table
from minutehand_pipeline.report.tables import TABLES

MARK = "report.json"
CONTENT = {"index.html", "tables", "schema.json", MARK}


def check_folder(folder: Path) -> None:
    """Raise InputError unless the folder can be written: it does not exist, is empty, or is an earlier report.

    The check creates a temporary folder next to it, because only that shows whether the location is writable.
    """
    try:
        _check(folder)
    except OSError as error:
        raise InputError(f"cannot write {folder}: {error.strerror}; pass another --out") from None


def _check(folder: Path) -> None:
    exists = folder.exists() or folder.is_symlink()
    if exists and (not folder.is_dir() or (any(folder.iterdir()) and not _is_report(folder))):
        raise InputError(f"{folder} exists and is not a report: pass another --out or remove it")
    parent = next(each for each in folder.absolute().parents if each.exists())
    if not parent.is_dir():
        raise InputError(f"cannot write {folder}: {parent} is a file; pass another --out")
    probe = Path(mkdtemp(prefix=f".{folder.name}.", dir=parent))
    # Another report may have removed it, as if this one had been killed.
    with suppress(FileNotFoundError):
        probe.rmdir()


def write_folder(folder: Path, result: ReportResult, busiest: Sequence[float]) -> None:
    """Write the report to a temporary folder, then replace an earlier report with it."""
    folder = folder.absolute()
    folder.parent.mkdir(parents=True, exist_ok=True)
    _remove_leftovers(folder)
    with _scratch(folder) as scratch:
        (scratch / "index.html").write_text(render(result, busiest), "utf-8")
        for name, rows in result.tables.items():
            _write_table(scratch / "tables", TABLES[name], rows)
        (scratch / "schema.json").write_text(_to_json(json_schema()))
        (scratch / MARK).write_text(_to_json(result.summary))
        _replace(folder, scratch)


@contextmanager
def _scratch(folder: Path) -> Iterator[Path]:
    """Create a temporary folder, and hold a lock on it, which shows that this process has not been killed."""
    scratch = Path(mkdtemp(prefix=f".{folder.name}.", dir=folder.parent))
    opened = os.open(scratch, os.O_RDONLY)
    try:
        # Without a lock, as on NFS, where a folder cannot have one, other reports do not remove the folder either.
        with suppress(OSError):
            fcntl.flock(opened, fcntl.LOCK_EX)
        scratch.chmod(0o755)
        yield scratch
    finally:
        os.close(opened)
        shutil.rmtree(scratch, ignore_errors=True)


def _remove_leftovers(folder: Path) -> None:
    """Remove the temporary folders of reports that were killed."""
    for each in filter(Path.is_dir, folder.parent.glob(f".{escape(folder.name)}.????????")):
        # Another report may remove it at the same time.
        with suppress(FileNotFoundError):
            if {path.name for path in each.iterdir()} <= CONTENT and not _is_locked(each):
                shutil.rmtree(each, ignore_errors=True)


def _is_locked(folder: Path) -> bool:
    """Whether a report may be using a temporary folder."""
    opened = os.open(folder, os.O_RDONLY)
    try:
        fcntl.flock(opened, fcntl.LOCK_EX | fcntl.LOCK_NB)
    # BlockingIOError, or another one of a file system without locks, which does not show who uses the folder.
    except OSError:
        return True
    finally:
        os.close(opened)
    return False


def table_schema(table: Table) -> pa.Schema:
    """Return the schema of a table's Parquet file, with the meaning of each column."""
    fields = arrow_schema(table.spark_schema())
    return pa.schema(
        [
            field.with_metadata({"comment": column.meaning})
            for field, column in zip(fields, table.columns, strict=True)
        ]
    )


def json_schema() -> dict[str, Any]:
    """Return the JSON Schema of all tables."""
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$defs": {name: table.json_schema() for name, table in TABLES.items()},
    }


def _write_table(folder: Path, table: Table, rows: list[dict[str, Any]]) -> None:
    folder.mkdir(exist_ok=True)
    pq.write_table(pa.Table.from_pylist(rows, schema=table_schema(table)), folder / f"{table.name}.parquet")
    (folder / f"{table.name}.json").write_text(_to_json(rows))


def _replace(folder: Path, new: Path) -> None:
    """Swap the folders. The earlier report stays in place until the new one takes its name."""
    check_folder(folder)
    if not folder.exists():
        new.rename(folder)
        return
    old = Path(mkdtemp(prefix=f".{folder.name}.", dir=folder.parent))
    os.replace(folder, old)  # noqa: PTH105, which replaces an empty folder
    new.rename(folder)
    shutil.rmtree(old, ignore_errors=True)


def _is_report(folder: Path) -> bool:
    try:
        summary = json.loads((folder / MARK).read_text())
    except (OSError, ValueError):
        return False
    return isinstance(summary, dict) and summary.get("made_by") == MADE_BY


def _to_json(value: Any) -> str:
    return json.dumps(value, default=_date_text, indent=1, ensure_ascii=False, allow_nan=False) + "\n"


def _date_text(value: Any) -> str:
    if isinstance(value, datetime | date):
        return value.isoformat()
    raise TypeError(f"a report cannot contain a value of type {type(value).__name__}")
