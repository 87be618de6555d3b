"""What no lake may have: the payload of a job that was marked personal, and all that was said of who was erased."""

from collections.abc import Collection
from dataclasses import dataclass

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from minutehand.database import Database
from minutehand_pipeline.schemas import Home
from minutehand_pipeline.statements import run

# What may tell of a person; the other columns say how the queue did. The lists are those of docs/pipeline/archive.md.
PRIVATE = {
    "jobs_done": ("key", "payload", "headers", "result", "error"),
    "attempts": ("error", "result"),
    "events": ("facts",),
}
PERSONAL = (
    "payload",
    "headers",
)  # of a job marked personal; the database has cleared them when it was finished
SUBJECT = {"jobs_done": "id", "attempts": "job", "events": "job"}  # the column that has the job's id


@dataclass(frozen=True)
class Erased:
    """Whose data was erased: jobs by their ids, and whole tenants."""

    jobs: tuple[str, ...] = ()
    tenants: tuple[str, ...] = ()


def read_erased(database: Database) -> Erased:
    """Return whose data was erased from the lake before now."""
    rows = run(database, "erased")
    return Erased(*(tuple(row["value"] for row in rows if row["what"] == what) for what in ("job", "tenant")))


def clear_private(frame: DataFrame, home: Home, erased: Erased) -> DataFrame:
    """Return the frame with nulls for what is personal, and for all that is private of who was erased."""
    gone, personal = (
        _is_erased(home, erased),
        F.col("personal") if "personal" in frame.columns else F.lit(False),
    )
    return frame.withColumns(
        {
            name: F.when(~(gone | personal) if name in PERSONAL else ~gone, F.col(name))
            for name in PRIVATE[home.name]
        }
    )


def _is_erased(home: Home, erased: Erased) -> Column:
    return _among(F.col(SUBJECT[home.name]), erased.jobs) | _among(F.col("tenant"), erased.tenants)


def _among(column: Column, values: Collection[str]) -> Column:
    return F.coalesce(column.isin(list(values)), F.lit(False)) if values else F.lit(False)
