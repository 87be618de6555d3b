"""The file of rejected rows. A load writes it only if it rejects any."""

import json
import os
from collections.abc import Iterable, Iterator
from contextlib import closing
from itertools import chain, groupby
from pathlib import Path
from tempfile import TemporaryFile
from typing import Any

from minutehand.database import Database, sql
from minutehand_pipeline.errors import InputError, LoadError
from minutehand_pipeline.load.files import Piece, lines_before
from minutehand_pipeline.load.rows import read_lines, readable
from minutehand_pipeline.queue.writing import staging_table

REJECTS = """
select distinct on (slice, line) slice, source, line, reason, raw
  from minutehand.{} where reason is not null order by slice, line
"""

Row = tuple[int, str, int, str, str | None]


def check_file(file: Path) -> None:
    """Raise InputError, before anything is entered, if the file cannot be written. An existing file is not changed."""
    if file.is_dir():
        raise InputError(f"--rejects must be a file, but {file} is a folder")
    if file.exists():
        if not os.access(file, os.W_OK):
            raise InputError(f"{file} is not writable: pass another --rejects")
        return
    try:
        with TemporaryFile(dir=file.absolute().parent):
            pass
    except OSError as error:
        raise InputError(f"{file} cannot be written ({error.strerror}): pass another --rejects") from None


def write_rejects(database: Database, run: str, pieces: Iterable[Piece], file: Path) -> None:
    """Write a run's rejected rows in input order, one JSON object per line, replacing the file.

    Without rejected rows the file is not touched. A row that several attempts staged is written once. Memory use is
    bounded. Raises LoadError if the file cannot be written; the rows then remain staged.
    """
    by_number = {piece.number: piece for piece in pieces}
    with database.transaction() as connection, closing(connection.cursor(name="rejects")) as rows:
        rows.execute(sql.SQL(REJECTS).format(sql.Identifier(staging_table(run))))
        rejects = _rejects(rows, by_number)
        for first in rejects:
            _write(chain([first], rejects), file)


def _write(rejects: Iterable[dict[str, Any]], file: Path) -> None:
    try:
        with file.open("w", encoding="utf-8") as out:
            for each in rejects:
                print(json.dumps(each, ensure_ascii=False), file=out)
    except OSError as error:
        raise LoadError(
            f"the rejected rows cannot be written to {file} ({error.strerror}); run the same load again with another "
            "--rejects to write them"
        ) from None


def _rejects(rows: Iterable[Row], by_number: dict[int, Piece]) -> Iterator[dict[str, Any]]:
    for number, in_piece in groupby(rows, lambda row: row[0]):
        piece = by_number[number]
        before = lines_before(piece)
        for source, line, reason, raw in _with_raw(piece, in_piece):
            reject = {"source": source, "line": before + line, "reason": reason}
            yield reject if raw is None else reject | {"raw": raw}


def _with_raw(piece: Piece, rows: Iterable[Row]) -> Iterator[tuple[str, int, str, str | None]]:
    """Add the text of lines that were readable but broke a rule. It is read again, because it was not staged."""
    texts = iter(()) if piece.file.format == "parquet" else read_lines(piece)
    for _, source, line, reason, raw in rows:
        if raw is None:
            raw = next((readable(text) for number, text in texts if number == line), None)
        yield source, line, reason, raw
