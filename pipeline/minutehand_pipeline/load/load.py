"""Load files: list them, read and check their rows, stage the jobs, and enter all of them in one transaction."""

import logging
from collections.abc import Callable, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any
from uuid import uuid4

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from minutehand.database import Database
from minutehand.errors import DatabaseError
from minutehand.settings import encrypts
from minutehand.settings.table import MIDDLEWARE
from minutehand_pipeline.errors import InputError
from minutehand_pipeline.load import loads
from minutehand_pipeline.load.checks import checked
from minutehand_pipeline.load.files import File, Piece, identity, list_files, split_files
from minutehand_pipeline.load.rejects import check_file, write_rejects
from minutehand_pipeline.load.rows import ROWS, reader
from minutehand_pipeline.load.task_errors import translated_errors
from minutehand_pipeline.queue.location import url_getter
from minutehand_pipeline.queue.source import register
from minutehand_pipeline.queue.terms import check_conflict, check_rejects, check_spread
from minutehand_pipeline.queue.writing import begin_run

LOG = logging.getLogger("minutehand_pipeline")


@dataclass(frozen=True)
class LoadConfig:
    """What to load, and how.

    `load` is the load's permanent name; by default it is derived from the files and the terms. `rate` is in jobs per
    second; `over` is the time over which all jobs are spread, from `start` or from now. `zone` applies to times
    without an offset. `location` tells Spark's tasks where the database is.
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
    on_rejects: Callable[[], None] = lambda: None
    max_rejects: int | None = None
    kind: str | None = None
    queue: str | None = None
    dry_run: bool = False
    location: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class LoadResult:
    """The counts of a load. `fresh` is false if an earlier run entered it; `at` is when it was entered.

    A dry run enters nothing; its `created` assumes that no key has an upcoming job. `removed` is the number of staging
    tables that killed runs had left, and that this run removed.
    """

    load: str
    fresh: bool
    created: int
    replaced: int
    ignored: int
    rejected: int
    at: datetime | None = None
    removed: int = 0


def load(
    spark: SparkSession,
    config: LoadConfig,
    on_start: Callable[[str], Any] | None = None,
    files: Sequence[File] | None = None,
) -> LoadResult:
    """Load the files. `on_start` is called with the run's id; `files` is the result of `find_files`, if known.

    Raises InputError, before any row is read, if the files cannot be loaded; LoadError if too many rows are rejected.
    """
    check_config(config)
    files = find_files(config) if files is None else files
    name = config.load or identity(files, *_identity_terms(config))
    with closing(Database(url_getter(config.location))) as database:
        pieces = split_files(files, config.kind)
        if entered := loads.find(database, name):
            return _already_entered(database, config, pieces, entered)
        rows = read_rows(spark, pieces, config.zone, config.kind).transform(
            checked(loads.max_payload(database), config.kind, config.queue)
        )
        if config.dry_run:
            with_keys = keyed(loads.default_queues(database), loads.session_tenant(database))
            return _count(rows.transform(with_keys), name, config)
        return _enter(spark, rows, database, config, pieces, name, on_start)


def find_files(config: LoadConfig) -> list[File]:
    """Return the files to load. Raises InputError if a path matches none, or if --rejects would overwrite one."""
    files = list_files(config.paths, config.format)
    if config.rejects is not None and str(config.rejects.absolute()) in {file.uri for file in files}:
        raise InputError("--rejects must not name a file that is loaded")
    return files


def check_config(config: LoadConfig) -> None:
    """Raise InputError for contradictory terms, and for settings that a load cannot apply."""
    check_conflict(config.on_conflict)
    if config.rate is not None and config.over is not None:
        raise InputError("expected --rate or --over, got both")
    check_spread(config.rate, config.over, config.start)
    if config.load is not None and not 1 <= len(config.load) <= 200:
        raise InputError(f"a load's name must have 1 to 200 characters, got {len(config.load)}")
    if config.rejects is not None and not config.dry_run:
        check_file(config.rejects)
    if encrypts() or MIDDLEWARE.read():
        raise InputError(
            "a load does not encrypt payloads or call middleware, but MINUTEHAND_ENCRYPTION_KEY or "
            "MINUTEHAND_MIDDLEWARE is set: unset it or use minutehand enqueue --file"
        )


def read_rows(spark: SparkSession, pieces: Sequence[Piece], zone: str | None, kind: str | None) -> DataFrame:
    """Return the rows of all pieces, each with the number of its piece and its line."""
    if not pieces:
        return spark.createDataFrame([], ROWS)
    return spark.range(0, len(pieces), 1, len(pieces)).mapInArrow(reader(pieces, zone, kind), ROWS)


def keyed(queues: Mapping[str, str], session_tenant: str) -> Callable[[DataFrame], DataFrame]:
    """Return the transformation that adds `same`, which is equal for rows that name the same job.

    `queues` maps kinds to their default queues. The rule is the same as in the SQL function enqueue_load.
    """
    by_kind = F.create_map(*(F.lit(name) for pair in queues.items() for name in pair))
    queue = F.coalesce("queue", *([by_kind[F.col("kind")]] if queues else []), F.lit("default"))
    tenant = F.lit(session_tenant) if session_tenant else F.coalesce("tenant", F.lit(""))
    same = F.when(F.col("key").isNotNull(), F.struct(tenant, queue, F.col("key")))
    return lambda rows: rows.withColumn("same", same)


def _identity_terms(config: LoadConfig) -> Sequence[object]:
    """Return the terms that distinguish an unnamed load from another load of the same files."""
    return (
        config.on_conflict,
        config.rate,
        config.over,
        config.start,
        config.zone,
        config.kind,
        config.queue,
    )


def _enter(
    spark: SparkSession,
    rows: DataFrame,
    database: Database,
    config: LoadConfig,
    pieces: Sequence[Piece],
    name: str,
    on_start: Callable[[str], Any] | None,
) -> LoadResult:
    register(spark)
    run = str(uuid4())
    if on_start:
        on_start(run)
    removed = loads.end_dead_runs(database)
    with loads.guarded(database, run):
        begin_run(database, name, run)
        try:
            with translated_errors():
                rows.write.format("minutehand").options(**_options(config, name, run)).mode("append").save()
        finally:
            _finish_run(database, config, pieces, run)
    entered = loads.find(database, name) or {}
    return replace(_result(entered, fresh=entered.get("run") == run), removed=removed)


def _options(config: LoadConfig, name: str, run: str) -> dict[str, str]:
    options = {
        "load": name,
        "run": run,
        "on_conflict": config.on_conflict,
        "max_rejects": config.max_rejects,
        "rate": config.rate,
        "over": None if config.over is None else config.over.total_seconds(),
        "start": None if config.start is None else config.start.isoformat(),
    }
    return {name: str(value) for name, value in options.items() if value is not None} | dict(config.location)


def _finish_run(database: Database, config: LoadConfig, pieces: Sequence[Piece], run: str) -> None:
    """Write the rejected rows, even of a load that failed because of them, and drop the staging table."""
    if not loads.has_staging_table(database, run):
        return
    if config.rejects is not None:
        write_rejects(database, run, pieces, config.rejects)
        # If this fails, the staging table remains, and a repetition can write them again.
        config.on_rejects()
    loads.end_run(database, run)


def _already_entered(
    database: Database, config: LoadConfig, pieces: Sequence[Piece], entered: Mapping[str, Any]
) -> LoadResult:
    """Return the result of an earlier run, after writing its rejected rows if it was killed before that."""
    result = _result(entered, fresh=False)
    if config.dry_run:
        return result
    _finish_run(database, config, pieces, entered["run"])
    # A run before that one may have been killed when its table was still in use at the start of that one.
    try:
        with database.transaction():
            removed = loads.end_dead_runs(database)
    except DatabaseError as error:
        LOG.debug("cannot remove staging tables of killed loads: %s", error)
        return result
    return replace(result, removed=removed)


def _count(rows: DataFrame, name: str, config: LoadConfig) -> LoadResult:
    """Count what a load would enter."""
    is_job = F.col("reason").isNull()
    with translated_errors():
        counted = rows.agg(
            F.count_if(is_job & F.col("same").isNull()).alias("plain"),
            F.count_if(is_job & F.col("same").isNotNull()).alias("keyed"),
            F.count_distinct(F.when(is_job, F.col("same"))).alias("keys"),
            F.count_if(~is_job).alias("rejected"),
        ).collect()[0]
    check_rejects(counted["rejected"], config.max_rejects)
    created = counted["plain"] + counted["keys"]
    return LoadResult(name, False, created, 0, counted["keyed"] - counted["keys"], counted["rejected"])


def _result(entered: Mapping[str, Any], *, fresh: bool) -> LoadResult:
    names = ("load", "created", "replaced", "ignored", "rejected", "at")
    return LoadResult(fresh=fresh, **{name: entered[name] for name in names})
