"""A lake in an object store: the same as in a folder, also when the store refuses at the worst moment."""

import json
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from time import monotonic, sleep

import boto3
import deltalake
import pytest

from minutehand_pipeline.archive.erase import EraseConfig
from minutehand_pipeline.archive.erase import run as erase
from minutehand_pipeline.lake import Lake
from tests.pipeline.archive.stage import Stage
from tests.pipeline.running import ROOT, run, said

pytestmark = pytest.mark.long

LAKE = "s3://minutehand/a/lake"
SECONDS = 180
QUICKLY = {"max_retries": "1", "retry_timeout": "2s", "timeout": "10s"}


@dataclass
class Store:
    """An S3 in a process of its own, that can be silent for a while: delta-rs and a server do not share one."""

    port: int
    process: "subprocess.Popen[bytes]"

    @property
    def environment(self) -> dict[str, str]:
        return {
            "AWS_ENDPOINT_URL": f"http://127.0.0.1:{self.port}", "AWS_REGION": "us-east-1",
            "AWS_ACCESS_KEY_ID": "x", "AWS_SECRET_ACCESS_KEY": "x",
        }  # fmt: skip

    def stop(self) -> None:
        self.process.send_signal(signal.SIGSTOP)

    def start(self) -> None:
        self.process.send_signal(signal.SIGCONT)


@pytest.fixture
def store(monkeypatch: pytest.MonkeyPatch) -> Iterator[Store]:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    serve = f"from moto.server import main; main(['-H', '127.0.0.1', '-p', '{port}'])"
    server = subprocess.Popen(
        [sys.executable, "-c", serve], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    store = Store(port, server)
    deadline = monotonic() + SECONDS
    while not answers(port):
        assert monotonic() < deadline
        sleep(0.1)
    for name, value in store.environment.items():
        monkeypatch.setenv(name, value)
    boto3.client(
        "s3", region_name="us-east-1", endpoint_url=store.environment["AWS_ENDPOINT_URL"]
    ).create_bucket(Bucket="minutehand")
    yield store
    store.process.kill()
    store.process.wait()


def answers(port: int) -> bool:
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0


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
