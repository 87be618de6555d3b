"""A writer whose first attempt at a task dies where a test says: before its rows are committed, or after."""

import os
from collections.abc import Iterator
from pathlib import Path

import pyarrow as pa
from pyspark.sql import types as T
from pyspark.sql.datasource import WriterCommitMessage

from minutehand_pipeline.sources.place import place_of
from minutehand_pipeline.sources.queue import QueueSource
from minutehand_pipeline.sources.terms import terms_of
from minutehand_pipeline.sources.writing import QueueWriter


def source(when: str, how: str, mark: Path, times: int = 1) -> type[QueueSource]:
    """Return the data source; so many attempts die, each leaving a file beside `mark`."""

    def die() -> None:
        for number in range(times):
            try:
                os.close(os.open(f"{mark}{number}", os.O_CREAT | os.O_EXCL))
            except FileExistsError:
                continue
            if how == "exit":
                os._exit(9)
            raise RuntimeError("this attempt dies")

    class FaultyWriter(QueueWriter):
        def write(self, iterator: Iterator[pa.RecordBatch]) -> WriterCommitMessage:
            copied = super().write(self._dying(iterator) if when == "before" else iterator)
            if when == "after":
                die()
            return copied

        def _dying(self, iterator: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
            for batch in iterator:
                yield batch
                die()

    class FaultySource(QueueSource):
        def writer(self, schema: T.StructType, overwrite: bool) -> QueueWriter:
            return FaultyWriter(terms_of(self.options), schema, place_of(self.options))

    return FaultySource
