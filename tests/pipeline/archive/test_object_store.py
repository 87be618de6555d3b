"""A lake in an object store: the same as in a folder, also when the store refuses at the worst moment."""

import json
import subprocess
import sys

import deltalake
import pytest

from minutehand_pipeline.archive.erase import EraseConfig
from minutehand_pipeline.archive.erase import run as erase
from minutehand_pipeline.lake import Lake
from tests.pipeline.archive.stage import Stage
from tests.pipeline.object_store import SECONDS, Store
from tests.pipeline.running import ROOT, run, said

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


def test_the_command_carries_to_an_object_store_which_it_finds_by_its_environment(
    stage: Stage, store: Store
) -> None:
    stage.fill(40)
    command = (
        "-m",
        "minutehand_pipeline",
        "archive",
        LAKE,
        "--home",
        "jobs_done",
        "--day",
        "2026-03-31",
        "-o",
        "json",
    )

    ended = run(*command, DATABASE_URL=stage.database.url, **store.environment)

    assert ended.returncode == 0, ended.stderr
    told = json.loads(ended.stdout)
    assert (told["outcome"], told["rows"], told["number"]) == ("archived", 40, 1)
    assert ids() == [row[0] for row in stage.sql("select id::text from minutehand.jobs order by 1")]
    assert stage.database.url not in ended.stderr
    erased = erase(EraseConfig(lake=Lake(LAKE), tenant="acme", place=stage.place))
    assert erased.erased["jobs_done"] == erased.left["jobs"] > 0


def test_a_store_that_is_gone_at_the_commit_fails_the_run_and_not_the_next(
    stage: Stage, store: Store
) -> None:
    stage.fill(40)
    mortal = [
        sys.executable, "-m", "tests.pipeline.archive.mortal", "verified", "jobs_done", LAKE, stage.place["url_file"],
        json.dumps(QUICKLY),
    ]  # fmt: skip
    process = subprocess.Popen(
        mortal, cwd=ROOT, env=said(store.environment), stdin=subprocess.PIPE, stdout=subprocess.PIPE,
        stderr=subprocess.PIPE, text=True,
    )  # fmt: skip
    assert process.stdout is not None
    assert process.stdout.readline() == "at verified\n"
    store.stop()
    _, complaint = process.communicate("\n", SECONDS)
    store.start()

    assert process.returncode != 0
    assert "LakeError" in complaint
    ended = run(
        "-m", "minutehand_pipeline", "archive", LAKE, "--home", "jobs_done", "--drop", "--until", "2026-03-31",
        DATABASE_URL=stage.database.url, **store.environment,
    )  # fmt: skip
    assert ended.returncode == 0, ended.stderr
    assert len(ids()) == len(set(ids())) == 40
    assert stage.queued() == {}
