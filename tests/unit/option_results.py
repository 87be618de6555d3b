"""Results: every place that shows or archives the options of stored jobs.

A new option is required in each of them. To leave it out, add it to the exceptions of the place.
"""

import re
from collections.abc import Iterator

from minutehand.cli.listing import COLUMNS
from minutehand.functions.api.schemas.jobs import Job
from minutehand.model.row import UNLISTED, Row
from tests.unit.option_place import LIBRARY, STORED, Place, between, names, text

# Only the archive needs it of a stored job.
SHOWN = STORED - {"personal"}
LISTED = SHOWN - UNLISTED
# Options that `ls` shows only as JSON: the others would not fit.
JSON_ONLY = {"run_at", "priority", "max_attempts", "every", "zone", "tenant", "batch"}
LISTS = ("list_jobs", "list_newer_jobs", "get_listed")


def result_places() -> Iterator[Place]:
    """Yield every place, in the order of CONTRIBUTING.md."""
    yield Place(f"{LIBRARY}/model/row.py", "Row", set(Row.__dataclass_fields__), SHOWN)
    for statement in LISTS:
        file = f"{LIBRARY}/sql/queries/{statement}.sql"
        yield Place(file, "the columns", listed_columns(statement), LISTED)
    columns = {column.name for column, _ in COLUMNS}
    yield Place(f"{LIBRARY}/cli/listing.py", "COLUMNS", columns, LISTED - JSON_ONLY)
    schema = f"{LIBRARY}/functions/api/schemas/jobs.py"
    yield Place(schema, "Job", set(Job.model_fields), SHOWN)
    show = text(f"{LIBRARY}/cli/commands/show.py")
    yield Place(
        f"{LIBRARY}/cli/commands/show.py", "_head or _facts", names(show, r"(?:\brow\.|\")(\w+)\b"), SHOWN
    )
    yield from _archive()


def listed_columns(statement: str) -> set[str]:
    """Return the columns of jobs that a statement selects."""
    return names(
        between(text(f"{LIBRARY}/sql/queries/{statement}.sql"), "\nselect ", "\n  from "), r"\bj\.(\w+)"
    )


def _archive() -> Iterator[Place]:
    folder = "pipeline/minutehand_pipeline"
    table = between(text("docs/pipeline/lake.md"), "\n### jobs\n", "\n### ")
    schema = between(text(f"{folder}/schemas.py"), "JOBS = ", "\n)\n")
    expressions = between(text(f"{folder}/queue/columns.py"), "_TEXTS = ", "\n}\n")
    yield Place(f"{folder}/schemas.py", "JOBS", names(schema, r"\(\"(\w+)\""), STORED)
    yield Place(f"{folder}/queue/columns.py", "JOBS", names(expressions, r"\"(\w+)\"[:,)]"), STORED)
    yield Place(
        "docs/pipeline/lake.md",
        "the table of jobs",
        set(re.findall(r"^\| (\w+) \|", table, re.MULTILINE)),
        STORED,
    )
