"""An archive that stops at a point and reports it, so that its parent can kill it or let it continue.

read       the snapshot is held, nothing is read
writing    a task has written its first batch; the task's process reports it too
files      the data files are complete
verified   they were compared with the database
committed  the lake has the batch, but not the ledger
recorded   the ledger has it too
dropping   before a partition is dropped
dropped    after a partition was dropped

python -m tests.pipeline.archive.mortal POINT HOME LAKE URL_FILE [STORAGE]
"""

import json
import os
import sys
from datetime import timedelta
from pathlib import Path
from typing import Any

import pyarrow as pa

from minutehand_pipeline.archive.archive import ArchiveConfig, archive
from minutehand_pipeline.archive.archiver import Archiver
from minutehand_pipeline.lake import Lake
from minutehand_pipeline.session import build_session


class Mortal(Archiver):
    """Stops at a point."""

    point = ""
    notes = Path()

    def at(self, point: str) -> None:
        if point == self.point:
            sys.stdout.write(f"at {point}\n")
            sys.stdout.flush()
            sys.stdin.readline()

    def read(self, *arguments: Any) -> Any:
        self.at("read")
        return super().read(*arguments)

    def write(self, home: Any, rows: Any) -> Any:
        if self.point == "writing":
            rows = rows.mapInArrow(slowly(self.notes), rows.schema)
        files = super().write(home, rows)
        self.at("files")
        return files

    def verify(self, *arguments: Any) -> None:
        super().verify(*arguments)
        self.at("verified")

    def commit(self, *arguments: Any) -> None:
        super().commit(*arguments)
        self.at("committed")

    def record(self, batch: Any) -> None:
        super().record(batch)
        self.at("recorded")

    def drop(self, day: Any) -> str:
        self.at("dropping")
        outcome = super().drop(day)
        self.at("dropped")
        return outcome


def slowly(notes: Path) -> Any:
    """Pass a task's first batch, then wait for the file `on`. The file `task-<pid>` shows that a task waits."""

    def wait(batches: Any) -> Any:
        from time import sleep

        for batch in batches:
            yield pa.RecordBatch.from_arrays(batch.columns, schema=batch.schema)
            if not (notes / "on").exists():
                (notes / f"task-{os.getpid()}").touch()
            while not (notes / "on").exists():
                sleep(0.05)

    return wait


def main(point: str, home: str, lake: str, url_file: str, storage: str = "{}") -> None:
    Mortal.point, Mortal.notes = point, Path(url_file).parent
    spark = build_session("mortal", cores=1, settings={"spark.driver.memory": "512m"})
    config = ArchiveConfig(
        lake=Lake(lake, json.loads(storage)),
        homes=(home,),
        wait=timedelta(seconds=30),
        location={"url_file": url_file},
        drop=point in ("dropping", "dropped"),
    )
    result = archive(spark, config, archiver=Mortal)
    sys.stdout.write(f"ended {[each.outcome for each in result.days]}\n")


if __name__ == "__main__":
    main(*sys.argv[1:])
