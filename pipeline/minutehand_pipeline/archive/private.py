"""Data that must not be in the lake: payloads of personal jobs, and the private columns of erased subjects."""

from collections.abc import Collection
from dataclasses import dataclass

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from minutehand.database import Database
from minutehand_pipeline.schemas import Home
from minutehand_pipeline.statements import run_statement

# Columns that may contain personal data. docs/pipeline/archive.md lists them too.
PRIVATE = {
    "jobs_done": ("key", "group", "payload", "headers", "result", "error", "on_dead"),
    "attempts": ("error", "result"),
    "events": ("facts",),
}
# Columns of a job marked personal, which the database clears when the job finishes.
PERSONAL = ("payload", "headers", "on_dead")
# The column that holds the job's id.
SUBJECT = {"jobs_done": "id", "attempts": "job", "events": "job"}


@dataclass(frozen=True)
class Subjects:
    """The subjects of an erasure: jobs by id, and whole tenants."""

    jobs: tuple[str, ...] = ()
    tenants: tuple[str, ...] = ()


def read_erased(database: Database) -> Subjects:
    """Return the subjects that were erased from the lake so far."""
    rows = run_statement(database, "erased")
    return Subjects(
        *(tuple(row["value"] for row in rows if row["what"] == what) for what in ("job", "tenant"))
    )


def clear_private(frame: DataFrame, home: Home, erased: Subjects) -> DataFrame:
    """Set the private columns to null for erased subjects, and the personal columns for personal jobs."""
    is_erased = _is_erased(home, erased)
    is_personal = F.col("personal") if "personal" in frame.columns else F.lit(False)
    return frame.withColumns(
        {
            name: F.when(~(is_erased | is_personal) if name in PERSONAL else ~is_erased, F.col(name))
            for name in PRIVATE[home.name]
        }
    )


def _is_erased(home: Home, erased: Subjects) -> Column:
    return _is_in(F.col(SUBJECT[home.name]), erased.jobs) | _is_in(F.col("tenant"), erased.tenants)


def _is_in(column: Column, values: Collection[str]) -> Column:
    return F.coalesce(column.isin(list(values)), F.lit(False)) if values else F.lit(False)
