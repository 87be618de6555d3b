"""A lake in an object store works like one in a folder, even if the store fails during a commit."""

import json
import subprocess
import sys

import deltalake
import pytest

from minutehand_pipeline.archive.erase import EraseConfig, erase
from minutehand_pipeline.lake import Lake
from tests.pipeline.archive.stage import Stage
from tests.pipeline.object_store import SECONDS, Store
from tests.pipeline.running import ROOT, clean_environment, run

pytestmark = pytest.mark.long

LAKE = "s3://minutehand/a/lake"
QUICKLY = {"max_retries": "1", "retry_timeout": "2s", "timeout": "10s"}


def ids() -> list[str]:
    rows = (
        deltalake.DeltaTable(f"{LAKE}/jobs", storage_options={"allow_http": "true"})
        .to_pyarrow_dataset()
        .to_table(["id"])
    )
    found: list[str] = rows["id"].to_pylist()
    return sorted(found)


def test_archive_command_writes_to_an_object_store(stage: Stage, store: Store) -> None:
    stage.fill(40)
    command = (
        "-m",
        "minutehand_pipeline",
        "archive",
        LAKE,
        "--table",
        "jobs_done",
        "--day",
        "2026-03-31",
        "-o",
        "json",
    )

    ended = run(*command, DATABASE_URL=stage.database.url, **store.environment)

    assert ended.returncode == 0, ended.stderr
    result = json.loads(ended.stdout)
    assert (result["outcome"], result["rows"], result["number"]) == ("archived", 40, 1)
    assert ids() == [row[0] for row in stage.sql("select id::text from minutehand.jobs order by 1")]
    assert stage.database.url not in ended.stderr
    erased = erase(EraseConfig(lake=Lake(LAKE), tenant="acme", location=stage.location))
    assert erased.erased["jobs_done"] == erased.left["jobs"] > 0


def test_store_outage_at_commit_fails_one_run_only(stage: Stage, store: Store) -> None:
    stage.fill(40)
    mortal = [
        sys.executable,
        "-m",
        "tests.pipeline.archive.mortal",
        "verified",
        "jobs_done",
        LAKE,
        stage.location["url_file"],
        json.dumps(QUICKLY),
    ]
    process = subprocess.Popen(
        mortal,
        cwd=ROOT,
        env=clean_environment(store.environment),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert process.stdout is not None
    assert process.stdout.readline() == "at verified\n"
    store.pause()
    _, complaint = process.communicate("\n", SECONDS)
    store.resume()

    assert process.returncode != 0
    assert "LakeError" in complaint
    ended = run(
        "-m",
        "minutehand_pipeline",
        "archive",
        LAKE,
        "--table",
        "jobs_done",
        "--drop",
        "--until",
        "2026-03-31",
        DATABASE_URL=stage.database.url,
        **store.environment,
    )
    assert ended.returncode == 0, ended.stderr
    assert len(ids()) == len(set(ids())) == 40
    assert stage.queued() == {}
