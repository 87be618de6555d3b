"""Every place that repeats the job options has those that NewJob declares, and CONTRIBUTING lists every place."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import NoReturn

import pytest

from minutehand.functions.api.schemas.enqueue import JobOptions
from minutehand.model.new_job import OPTIONS, NewJob, parameters
from minutehand.model.row import LISTED
from tests.unit import option_places
from tests.unit.option_place import LIBRARY, ROOT, between, function, text
from tests.unit.option_places import missing
from tests.unit.option_results import LISTS, listed_columns

DECLARATION = "shared/minutehand/model/new_job.py"
LAST = "    throttle: timedelta | None = field("
EXTRA = '    extra: str | None = field(default=None, metadata=text("queue_is_a_name"))\n'
# Follows the declaration, without an edit.
DERIVED = """
from minutehand import NewJob
from minutehand.model.new_job import parameters
from minutehand.model.parse_job import new_job
from minutehand.model.new_job import decode_job
from minutehand.schedules.template import encode_job
job = new_job({"kind": "echo", "extra": "red"}, None)
assert job == NewJob("echo", extra="red")
assert parameters(job, None)["extra"] == "red"
assert decode_job({"kind": "echo", "extra": "red"}) == job and '"extra": "red"' in encode_job(job)
"""
# Columns of new_jobs that no enqueuer sets.
INTERNAL = {"load", "ordinal", "nominal", "schedule", "id"}
DUMPED = {"timestamptz": "timestamp with time zone"}


def test_every_place_has_every_option() -> None:
    assert missing() == []


def test_enqueue_has_only_declared_options() -> None:
    assert option_places.python_parameters() == list(OPTIONS)
    assert option_places.sql_parameters().keys() - {"as_id"} == OPTIONS.keys()
    assert JobOptions.model_fields.keys() == OPTIONS.keys()


def test_copy_columns_match_the_rows() -> None:
    row = parameters(NewJob("echo"), clock=_no_clock)
    assert option_places.copied() == ["load", "ordinal", *row]


def test_sql_types_match_the_declaration() -> None:
    declared = {name: option.sql for name, option in OPTIONS.items()}
    columns = option_places.columns("new_jobs")
    assert columns.keys() - OPTIONS.keys() == INTERNAL
    assert {name: columns[name] for name in OPTIONS} == {
        name: DUMPED.get(kind, kind) for name, kind in declared.items()
    }
    assert option_places.sql_parameters() == declared | {"as_id": "uuid"}


@pytest.mark.parametrize("statement", LISTS)
def test_lists_of_jobs_select_the_fields_of_listings(statement: str) -> None:
    assert listed_columns(statement) | {"state"} == set(LISTED)


def test_lists_of_put_all_and_create_occurrence_have_one_order() -> None:
    body = function("put_all", "put_all")
    insert, select = between(body, "jobs_live as j\n", "\n          from").split(")\n        select ")
    old, new = between(body, "or (j.", "returning").split("is distinct from")
    occurrence = function("jobs", "create_occurrence")
    columns, values = between(occurrence, "jobs_live\n", "on conflict").split("values")

    assert _words(insert.replace("visible", "run_at")) == _words(select)
    assert re.findall(r"\bj\.(\w+)", f"j.{old}") == re.findall(r"excluded\.(\w+)", new)
    # The next occurrence starts at its own time.
    assert [{"run_at": "nominal", "visible": "nominal"}.get(name, name) for name in _words(columns)] == (
        re.findall(r"(?:job|create_occurrence)\.(\w+)", values)
    )


@pytest.mark.programs
def test_new_option_needs_the_edits_that_contributing_lists(copy: Path) -> None:
    edits = _run(copy, "-m", "tests.unit.option_places").splitlines()
    files = [DECLARATION, *(edit.partition(": add extra to ")[0] for edit in edits)]
    section = between(text("CONTRIBUTING.md"), "## Add a job option", "\n## ")

    assert all(": add extra to " in edit for edit in edits)
    assert f"{len(files)} edits in {len(set(files))} files" in section
    assert not {file for file in files if f"`{file}" not in section}


@pytest.mark.programs
def test_new_option_needs_no_edit_in_files_and_schedules(copy: Path) -> None:
    _run(copy, "-c", DERIVED)


@pytest.fixture
def copy(tmp_path: Path) -> Path:
    """Return a directory with a copy of the library that declares one more option, `extra`."""
    shutil.copytree(
        ROOT / LIBRARY,
        tmp_path / "minutehand",
        ignore=shutil.ignore_patterns("__pycache__"),
    )
    declaration = tmp_path / "minutehand/model/new_job.py"
    declared, count = re.subn(
        rf"^{re.escape(LAST)}.*\n", rf"\g<0>{EXTRA}", declaration.read_text(), flags=re.M
    )
    assert count == 1
    declaration.write_text(declared)
    return tmp_path


def _run(copy: Path, *arguments: str) -> str:
    done = subprocess.run(
        [sys.executable, *arguments],
        cwd=ROOT,
        env=os.environ | {"PYTHONPATH": str(copy)},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def _words(part: str) -> list[str]:
    return re.findall(r"\w+", part)


def _no_clock() -> NoReturn:
    raise AssertionError("only recurring jobs need the time")
