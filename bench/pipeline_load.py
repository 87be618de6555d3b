"""Load from Parquet, with keys, compared with COPY of the same rows into jobs_live."""

import os
import tempfile
from itertools import count
from pathlib import Path

import psycopg
import pyarrow as pa
import pyarrow.parquet as pq

from bench.measure import Measured, against
from minutehand_pipeline.load.load import LoadConfig, load
from minutehand_pipeline.session import build_session

ROUNDS = 3
GROUP = 250_000


def measure(url: str, rows: int) -> list[Measured]:
    """Measure both into an empty queue; the COPY writes the same columns from text, with checks and indexes."""
    # Set before the session starts, because its tasks inherit the environment.
    os.environ["DATABASE_URL"] = url
    spark = build_session("minutehand bench", cores=2)
    loads = count()
    with tempfile.TemporaryDirectory() as home, psycopg.connect(url, autocommit=True) as connection:
        parquet, text = Path(home, "jobs.parquet"), Path(home, "jobs.copy")
        _write(parquet, text, rows)

        def clear() -> None:
            connection.execute("truncate minutehand.jobs")
            connection.execute("checkpoint")

        def ours() -> None:
            result = load(spark, LoadConfig((str(parquet),), load=f"bench {os.getpid()} {next(loads)}"))
            assert result.created == rows

        def raw() -> None:
            with (
                connection.cursor() as cursor,
                cursor.copy("copy minutehand.jobs_live (kind, key, payload) from stdin") as copy,
                text.open("rb") as lines,
            ):
                while part := lines.read(1 << 20):
                    copy.write(part)

        measured = against("load / raw COPY FROM", rows, ours, raw, before=clear, rounds=ROUNDS, aim="0.50")
        clear()
    return [measured]


def _write(parquet: Path, text: Path, rows: int) -> None:
    schema = pa.schema({"kind": pa.string(), "key": pa.string(), "payload": pa.string()})
    with pq.ParquetWriter(parquet, schema) as out, text.open("w") as lines:
        for first in range(0, rows, GROUP):
            numbers = range(first, min(first + GROUP, rows))
            keys = [f"customer/{number * 2654435761 % 2**32}/{number}" for number in numbers]
            payloads = [f'{{"email":"ada{number}@example.com","template":"welcome"}}' for number in numbers]
            columns = {"kind": ["welcome"] * len(numbers), "key": keys, "payload": payloads}
            out.write_table(pa.table(columns, schema=schema))
            lines.writelines(
                f"welcome\t{key}\t{payload}\n" for key, payload in zip(keys, payloads, strict=True)
            )
