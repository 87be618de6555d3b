"""Enqueue the jobs of a file in a stream, and report the outcome of each line."""

import json
import os
import sys
from collections import Counter, deque
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack, closing
from pathlib import Path
from typing import BinaryIO, TextIO, TypeVar
from zoneinfo import ZoneInfo

import click

from minutehand.cli.job_file import Item, read_csv, read_ndjson
from minutehand.cli.options import open_database
from minutehand.cli.output import print_message, put_json
from minutehand.cli.progress import Advance, progress
from minutehand.database import Database
from minutehand.enqueue import enqueue_many
from minutehand.model.enqueued import Enqueued, Rejected
from minutehand.model.new_job import NewJob, OnConflict

File = TypeVar("File", BinaryIO, TextIO)

OUTCOMES = ("created", "replaced", "merged", "ignored", "rejected")
READERS = {"ndjson": read_ndjson, "csv": read_csv}
EXTENSIONS = {".ndjson": "ndjson", ".jsonl": "ndjson", ".json": "ndjson", ".csv": "csv"}


def enqueue_file(
    path: str,
    format: str | None,
    rejects: str | None,
    zone: ZoneInfo | None,
    on_conflict: OnConflict,
    form: str,
) -> int:
    """Enqueue the jobs of a file; return the exit code, which is 1 if any line was rejected."""
    read = READERS[format or _format_of(path)]
    with ExitStack() as opened:
        file = opened.enter_context(_open(path))
        sink = opened.enter_context(_open_rejects(rejects, path)) if rejects else None
        database = opened.enter_context(open_database())
        advance = opened.enter_context(progress("enqueued", None))
        load = Load(form, sink, advance)
        opened.callback(load.conclude)
        items = opened.enter_context(closing(read(file, zone)))
        load.run(database, items, on_conflict)
    return 1 if load.counts["rejected"] else 0


class Load:
    """A run over a file: assigns outcomes to lines and counts them."""

    def __init__(self, form: str, rejects: TextIO | None, advance: Advance) -> None:
        """Print outcomes in an output format, and write rejects to a file or else to stderr."""
        self.counts: Counter[str] = Counter()
        self._form, self._rejects, self._advance = form, rejects, advance
        self._lines: deque[int] = deque()
        self._last = 0

    def run(self, database: Database, items: Iterable[Item], on_conflict: OnConflict) -> None:
        """Enqueue the valid lines in chunks, and print the outcome of each."""
        for outcome in enqueue_many(self._jobs(items), on_conflict=on_conflict, connection=database):
            self._last = self._lines.popleft()
            if isinstance(outcome, Rejected):
                self._reject(self._last, str(outcome.error))
            else:
                self._put(self._last, outcome)

    def conclude(self) -> None:
        """Print the counts and, if the run stopped early, the last line that was enqueued."""
        shown = [outcome for outcome in OUTCOMES if outcome != "merged" or self.counts[outcome]]
        counts = ", ".join(f"{self.counts[outcome]} {outcome}" for outcome in shown)
        print_message(counts if not self._lines else f"{counts}; stopped after line {self._last}")

    def _jobs(self, items: Iterable[Item]) -> Iterator[NewJob]:
        for item in items:
            if item.job is None:
                self._reject(item.line, item.fault)
            else:
                self._lines.append(item.line)
                yield item.job

    def _put(self, line: int, enqueued: Enqueued) -> None:
        self.counts[enqueued.outcome] += 1
        self._advance(1)
        if self._form == "ids":
            click.echo(str(enqueued.id))
        elif self._form == "json":
            put_json(
                {"line": line, "outcome": enqueued.outcome, "id": enqueued.id, "visible": enqueued.visible}
            )

    def _reject(self, line: int, reason: str) -> None:
        self.counts["rejected"] += 1
        self._advance(1)
        if self._form == "json":
            put_json({"line": line, "outcome": "rejected", "reason": reason})
        if self._rejects is not None:
            print(json.dumps({"line": line, "reason": reason}), file=self._rejects)
        elif self._form != "json":
            print_message(f"line {line}: {reason}")


def _format_of(path: str) -> str:
    extension = Path(path).suffix.lower()
    if path == "-":
        return "ndjson"
    if extension not in EXTENSIONS:
        raise click.UsageError(
            f"--file must end with {', '.join(EXTENSIONS)}, got {path!r}; or set --format ndjson or csv"
        )
    return EXTENSIONS[extension]


def _open(path: str) -> BinaryIO:
    if path != "-":
        return _opened(lambda: Path(path).open("rb"), path)
    if sys.stdin is None:
        raise click.UsageError("stdin is closed; expected jobs from it")
    return os.fdopen(sys.stdin.fileno(), "rb", closefd=False)


def _open_rejects(path: str, source: str) -> TextIO:
    if source != "-" and Path(path).exists() and Path(path).samefile(source):
        raise click.UsageError("--rejects must not be the input file")
    return _opened(lambda: Path(path).open("w", encoding="utf-8"), path)


def _opened(open_file: Callable[[], File], path: str) -> File:
    try:
        return open_file()
    except (OSError, ValueError) as error:
        raise click.UsageError(f"cannot open {path!r}: {getattr(error, 'strerror', None) or error}") from None
