"""The unpacked package, a cluster of two workers, and a database with a history."""

import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from minutehand.database import connect
from tests.cluster.bare import machine
from tests.cluster.standalone import Cluster, Submitted
from tests.pipeline.history import fill_history
from tests.servers import Database, Servers

ROOT = Path(__file__).parents[2]
DAYS, JOBS = 1, 2_000


@dataclass(frozen=True)
class Package:
    """The output of `make package/pipeline`, and the folder where the archive is unpacked for the driver."""

    archive: Path
    main: Path
    unpacked: Path


@pytest.fixture(scope="session")
def package(tmp_path_factory: pytest.TempPathFactory) -> Package:
    """Package for this machine, and unpack it elsewhere."""
    dist = tmp_path_factory.mktemp("dist")
    version = f"{sys.version_info.major}.{sys.version_info.minor}"
    subprocess.run(
        [sys.executable, str(ROOT / "pipeline" / "package.py"), "--python", version, "--into", str(dist)],
        check=True,
        stdout=subprocess.DEVNULL,
    )
    (archive,) = dist.glob("minutehand-pipeline-*.tar.gz")
    unpacked = tmp_path_factory.mktemp("elsewhere") / "environment"
    unpacked.mkdir()
    subprocess.run(["tar", "-xzf", str(archive), "-C", str(unpacked)], check=True)
    return Package(archive, dist / "main.py", unpacked)


@pytest.fixture(scope="session")
def queue(servers: Servers) -> Iterator[Database]:
    """A database with a day of history, for all of the cluster's jobs."""
    address = servers.address("direct-18")
    database = address.make()
    with connect(database.url) as connection:
        fill_history(connection, JOBS, days=DAYS)
    yield database
    address.drop(database)


@pytest.fixture(scope="session")
def standing(tmp_path_factory: pytest.TempPathFactory, queue: Database) -> Iterator[Cluster]:
    """The cluster. Its machines have the database's URL and only the interpreter of this Python."""
    home = tmp_path_factory.mktemp("cluster")
    interpreter = Path(sys.base_prefix, "bin", f"python{sys.version_info.major}.{sys.version_info.minor}")
    cluster = Cluster(home, {**machine(home, interpreter), "DATABASE_URL": queue.url})
    try:
        cluster.start()
        yield cluster
    finally:
        cluster.stop()


@pytest.fixture
def cluster(standing: Cluster) -> Cluster:
    """The cluster, with two workers."""
    standing.complete()
    return standing


class Submit:
    """Submits a command as documented."""

    def __init__(self, cluster: Cluster, package: Package) -> None:
        self.cluster = cluster
        self._package = package

    def __call__(self, *words: str) -> Submitted:
        """Submit a command and return while it runs."""
        package = self._package
        return self.cluster.submit(
            *words, archive=package.archive, main=package.main, cwd=package.unpacked.parent
        )

    def losing_a_worker(self, *words: str) -> tuple[str, Submitted]:
        """Submit a command, kill a worker while a task runs on it, and return the output."""
        self.cluster.complete()
        submitted = self(*words)
        try:
            submitted.lose_a_worker(self.cluster)
            out, _ = submitted.result()
        finally:
            submitted.end()
        assert submitted.lost_tasks() > 0
        return out, submitted


@pytest.fixture(scope="session")
def submit(standing: Cluster, package: Package) -> Submit:
    """Submit commands to the cluster."""
    return Submit(standing, package)
