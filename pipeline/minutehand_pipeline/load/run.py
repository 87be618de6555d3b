"""Load files: list them, read and check their rows, stage what are jobs, and enter them all in one transaction."""

import os
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any
from uuid import uuid4

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from minutehand.database import Database
from minutehand.errors import MinutehandError
from minutehand.settings import encrypts
from minutehand_pipeline.errors import InputError
from minutehand_pipeline.load import ledger
from minutehand_pipeline.load.checks import checked
from minutehand_pipeline.load.files import File, Piece, identity, list_files, pieces
from minutehand_pipeline.load.rejects import check_file, write_rejects
from minutehand_pipeline.load.rows import ROWS, reader
from minutehand_pipeline.sources.place import place_of
from minutehand_pipeline.sources.queue import register
from minutehand_pipeline.sources.writing import check_rejects, check_terms

CONFLICTS = ("replace", "ignore", "raise")
A_SENTENCE = re.compile(r"(?:minutehand[\w.]*\.)?\b([A-Z]\w+Error): (.+)")


@dataclass(frozen=True)
class Config:
    """What to load, and how.

    `load` names the load for good, by default by its files and terms. `rate` is jobs a second, `over` the time that all
    are spread over, from `start` on or from now; `zone` is of moments without an offset. `place` says where the
    database is, as minutehand_pipeline.sources.place has it.
    """

    paths: tuple[str, ...]
    format: str | None = None
    load: str | None = None
    on_conflict: str = "replace"
    rate: float | None = None
    over: timedelta | None = None
    start: datetime | None = None
    zone: str | None = None
    rejects: Path | None = None
    most_rejects: int | None = None
    kind: str | None = None
    queue: str | None = None
    dry_run: bool = False
    place: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Result:
    """What became of a load: `fresh` is false where an earlier run had done it, and `at` when it was entered.

    Of a dry run nothing was entered, and `created` counts what would be if no key had an upcoming job.
    """

    load: str
    fresh: bool
    created: int
    replaced: int
    ignored: int
    rejected: int
    at: datetime | None = None


def run(
    spark: SparkSession, config: Config, watch: Callable[[str], Any] | None = None,
    files: Sequence[File] | None = None,
) -> Result:  # fmt: skip
    """Load the files; `watch` is told the run's id when it begins, `files` are what `find` returned, if it was asked.

    Raises InputError for what cannot be loaded at all, before anything is read, and where too many rows are rejected.
    """
    check_config(config)
    files = find(config) if files is None else files
    load = config.load or identity(files, *terms_of(config))
    with closing(Database(place_of(config.place))) as database:
        cut = pieces(files, config.kind)
        if found := ledger.done(database, load):
            return _already(database, config, cut, found)
        rows = read_rows(spark, cut, config.zone, config.kind).transform(
            checked(ledger.most_bytes(database), config.kind, config.queue)
        )
        if config.dry_run:
            return _dry(
                rows.transform(keyed(ledger.queues(database), ledger.own_tenant(database))), load, config
            )
        return _enter(spark, rows, database, config, cut, load, watch)


def find(config: Config) -> list[File]:
    """Return the files to load; raise InputError where a path names none, or the rejected rows would go over one."""
    files = list_files(config.paths, config.format)
    if config.rejects is not None and str(config.rejects.absolute()) in {file.uri for file in files}:
        raise InputError("--rejects names a file that is read")
    return files


def check_config(config: Config) -> None:
    """Refuse terms that contradict each other, and a process that would enqueue otherwise than files say."""
    if config.on_conflict not in CONFLICTS:
        raise InputError(
            f"on_conflict of a load must be replace, ignore or raise; this is {config.on_conflict!r}"
        )
    if config.rate is not None and config.over is not None:
        raise InputError("say --rate or --over, not both")
    check_terms(config.rate, config.over, config.start)
    if config.load is not None and not 1 <= len(config.load) <= 200:
        raise InputError("a load's name has 1 to 200 characters")
    if config.rejects is not None and not config.dry_run:
        check_file(config.rejects)
    if encrypts() or os.environ.get("MINUTEHAND_MIDDLEWARE"):
        raise InputError(
            "a load neither encrypts payloads nor calls middleware, and MINUTEHAND_ENCRYPTION_KEY or "
            "MINUTEHAND_MIDDLEWARE asks for it: use minutehand enqueue --file, or unset it"
        )


def terms_of(config: Config) -> Sequence[object]:
    """Return the terms by which a load without a name is told from another of the same files."""
    return (
        config.on_conflict,
        config.rate,
        config.over,
        config.start,
        config.zone,
        config.kind,
        config.queue,
    )


def read_rows(spark: SparkSession, cut: Sequence[Piece], zone: str | None, kind: str | None) -> DataFrame:
    """Return the rows of all pieces, each with the number of its piece and its place in it."""
    if not cut:
        return spark.createDataFrame([], ROWS)
    return spark.range(0, len(cut), 1, len(cut)).mapInArrow(reader(cut, zone, kind), ROWS)


def _enter(
    spark: SparkSession, rows: DataFrame, database: Database, config: Config, cut: Sequence[Piece], load: str,
    watch: Callable[[str], Any] | None,
) -> Result:  # fmt: skip
    register(spark)
    this_run = str(uuid4())
    if watch:
        watch(this_run)
    try:
        with in_our_words():
            rows.write.format("minutehand").options(**_options(config, load, this_run)).mode("append").save()
    finally:
        _conclude(database, config, cut, this_run)
    found = ledger.done(database, load) or {}
    return _result(found, fresh=found.get("run") == this_run)


def _options(config: Config, load: str, this_run: str) -> dict[str, str]:
    said = {
        "load": load,
        "run": this_run,
        "on_conflict": config.on_conflict,
        "most_rejects": config.most_rejects,
        "rate": config.rate,
        "over": None if config.over is None else config.over.total_seconds(),
        "start": None if config.start is None else config.start.isoformat(),
    }
    return {name: str(value) for name, value in said.items() if value is not None} | dict(config.place)


def _conclude(database: Database, config: Config, cut: Sequence[Piece], this_run: str) -> None:
    """Write the rejected rows, also of a load that failed for having too many, and drop what was staged."""
    if not ledger.staged_is_there(database, this_run):
        return
    if config.rejects is not None:
        write_rejects(database, this_run, cut, config.rejects)
    ledger.end_run(database, this_run)


def _already(database: Database, config: Config, cut: Sequence[Piece], found: Mapping[str, Any]) -> Result:
    """Say what an earlier run did; if that was killed before its rejected rows were written, write them."""
    if not config.dry_run:
        _conclude(database, config, cut, found["run"])
    return _result(found, fresh=False)


def keyed(queues: Mapping[str, str], own: str) -> Callable[[DataFrame], DataFrame]:
    """Return the transformation that adds `same`: what rows share that name one job, as enqueue_load has it.

    `queues` are of the kinds that have a default, `own` is the tenant that the session is confined to, if it is.
    """
    by_kind = F.create_map(*(F.lit(said) for pair in queues.items() for said in pair))
    queue = F.coalesce("queue", *([by_kind[F.col("kind")]] if queues else []), F.lit("default"))
    tenant = F.lit(own) if own else F.coalesce("tenant", F.lit(""))
    same = F.when(F.col("key").isNotNull(), F.struct(tenant, queue, F.col("key")))
    return lambda rows: rows.withColumn("same", same)


def _dry(rows: DataFrame, load: str, config: Config) -> Result:
    jobs = F.col("reason").isNull()
    with in_our_words():
        counted = rows.agg(
            F.count_if(jobs & F.col("same").isNull()).alias("plain"),
            F.count_if(jobs & F.col("same").isNotNull()).alias("keyed"),
            F.count_distinct(F.when(jobs, F.col("same"))).alias("keys"),
            F.count_if(~jobs).alias("rejected"),
        ).collect()[0]
    check_rejects(counted["rejected"], config.most_rejects)
    created = counted["plain"] + counted["keys"]
    return Result(load, False, created, 0, counted["keyed"] - counted["keys"], counted["rejected"])


def _result(found: Mapping[str, Any], *, fresh: bool) -> Result:
    names = ("load", "created", "replaced", "ignored", "rejected", "at")
    return Result(fresh=fresh, **{name: found[name] for name in names})


@contextmanager
def in_our_words() -> Iterator[None]:
    """Turn what Spark makes of an error in a task into the sentence that the task raised."""
    try:
        yield
    except MinutehandError:
        raise
    except Exception as error:  # PySparkException, or py4j's, which a session by Connect has not
        found = [said for said in A_SENTENCE.findall(str(error)) if said[0] not in _NOT_OURS]
        raise InputError(found[-1][1].strip() if found else str(error).splitlines()[0]) from error


_NOT_OURS = ("PySparkRuntimeError", "Py4JJavaError", "Py4JError")
