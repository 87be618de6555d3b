"""Rejected rows: the file they go to, which is theirs only if there are any, and what stands in each of them."""

import json
import os
from collections.abc import Iterable, Iterator
from contextlib import closing
from itertools import chain, groupby
from pathlib import Path
from tempfile import TemporaryFile
from typing import Any

from minutehand.database import Database, sql
from minutehand_pipeline.errors import InputError
from minutehand_pipeline.load.files import Piece
from minutehand_pipeline.load.ledger import lines_before
from minutehand_pipeline.load.rows import lines, readable
from minutehand_pipeline.sources.writing import staged

REJECTS = """
select distinct on (slice, line) slice, source, line, reason, raw
  from minutehand.{} where reason is not null order by slice, line
"""

Row = tuple[int, str, int, str, str | None]


def check_file(file: Path) -> None:
    """Raise InputError for a file that could not be written, while nothing is entered yet; what is there stays."""
    if file.is_dir():
        raise InputError(f"{file} is a folder: --rejects is a file")
    if file.exists():
        if not os.access(file, os.W_OK):
            raise InputError(f"{file} may not be written: say another --rejects")
        return
    try:
        with TemporaryFile(dir=file.absolute().parent):
            pass
    except OSError as error:
        raise InputError(f"{file} cannot be written ({error.strerror}): say another --rejects") from None


def write_rejects(database: Database, run: str, pieces: Iterable[Piece], file: Path) -> None:
    """Write the rejected rows of a run in the order of the input, an object of JSON a line, in place of what was there.

    Without any, the file is left as it is. A row in several attempts of a task stands there once. What is read of it
    at once is bounded. Raises InputError where the file cannot be written; the rows are staged still then.
    """
    by_number = {piece.number: piece for piece in pieces}
    with database.transaction() as connection, closing(connection.cursor(name="rejects")) as rows:
        rows.execute(sql.SQL(REJECTS).format(sql.Identifier(staged(run))))
        told = _told(rows, by_number)
        for first in told:
            _write(chain([first], told), file)


def _write(told: Iterable[dict[str, Any]], file: Path) -> None:
    try:
        with file.open("w", encoding="utf-8") as out:
            for each in told:
                print(json.dumps(each, ensure_ascii=False), file=out)
    except OSError as error:
        raise InputError(
            f"the rejected rows cannot be written to {file} ({error.strerror}); the same load again, with another "
            "--rejects, writes them"
        ) from None


def _told(rows: Iterable[Row], by_number: dict[int, Piece]) -> Iterator[dict[str, Any]]:
    for slice, of_it in groupby(rows, lambda row: row[0]):
        piece = by_number[slice]
        before = lines_before(piece)
        for source, line, reason, raw in _with_raw(piece, of_it):
            told = {"source": source, "line": before + line, "reason": reason}
            yield told if raw is None else told | {"raw": raw}


def _with_raw(piece: Piece, rows: Iterable[Row]) -> Iterator[tuple[str, int, str, str | None]]:
    """Add what stands in a line that could be read and breaks a rule: that is read anew, rather than kept of all."""
    texts = iter(()) if piece.file.format == "parquet" else lines(piece)
    for _, source, line, reason, raw in rows:
        if raw is None:
            raw = next((readable(text) for number, text in texts if number == line), None)
        yield source, line, reason, raw
