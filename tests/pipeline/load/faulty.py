"""A writer whose first attempts at a task fail, before or after their rows are committed."""

import os
from collections.abc import Iterator
from pathlib import Path

import pyarrow as pa
from pyspark.sql import types as T
from pyspark.sql.datasource import WriterCommitMessage

from minutehand_pipeline.queue.location import url_getter
from minutehand_pipeline.queue.source import QueueSource
from minutehand_pipeline.queue.terms import read_terms
from minutehand_pipeline.queue.writing import QueueWriter


def source(when: str, how: str, mark: Path, times: int = 1) -> type[QueueSource]:
    """Return a data source whose first `times` attempts fail; each creates a file with the prefix `mark`."""

    def fail() -> None:
        for number in range(times):
            try:
                os.close(os.open(f"{mark}{number}", os.O_CREAT | os.O_EXCL))
            except FileExistsError:
                continue
            if how == "exit":
                os._exit(9)
            raise RuntimeError("this attempt fails")

    class FaultyWriter(QueueWriter):
        def write(self, iterator: Iterator[pa.RecordBatch]) -> WriterCommitMessage:
            copied = super().write(self._failing(iterator) if when == "before" else iterator)
            if when == "after":
                fail()
            return copied

        def _failing(self, iterator: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
            for batch in iterator:
                yield batch
                fail()

    class FaultySource(QueueSource):
        def writer(self, schema: T.StructType, overwrite: bool) -> QueueWriter:
            return FaultyWriter(read_terms(self.options), schema, url_getter(self.options))

    return FaultySource
