"""`minutehand dev` in a shell whose DATABASE_URL is that of an earlier run."""

import shutil
import signal
import socket
from collections.abc import Iterator
from pathlib import Path

import pytest
from dev_runs import finished, processes_of, start, until

from minutehand.local import postgres
from minutehand.local.home import is_own

ROOT = Path(__file__).parent.parent.parent


@pytest.fixture
def project(tmp_path: Path) -> Iterator[Path]:
    shutil.copytree(ROOT / "functions", tmp_path / "functions", ignore=shutil.ignore_patterns("__pycache__"))
    yield tmp_path
    for process in processes_of(tmp_path):
        process.kill()
    postgres.stop(tmp_path / ".minutehand")


def url_of_a_run(project: Path) -> str:
    run = start(project, "--no-seed")
    until(run, "ticks")
    url = (project / ".minutehand" / "url").read_text()
    run.send_signal(signal.SIGINT)
    finished(run)
    return url


def test_dev_starts_the_postgres_of_its_folder_that_the_url_names(project: Path) -> None:
    run = start(project, "--no-seed", url=url_of_a_run(project))
    printed = until(run, "ticks")
    run.send_signal(signal.SIGINT)
    finished(run)

    assert "data in .minutehand" in printed and "DATABASE_URL" not in printed


def test_dev_says_that_the_port_of_its_postgres_has_changed(project: Path) -> None:
    url = url_of_a_run(project)
    with socket.create_server(("127.0.0.1", int(url.split(":")[3].split("/")[0]))):
        run = start(project, "--no-seed", url=url)
        printed = until(run, "ticks")
        run.send_signal(signal.SIGINT)
        finished(run)

    assert "the port in DATABASE_URL is an old one: export it again from .minutehand/url" in printed


@pytest.mark.parametrize(
    "other",
    [
        "postgres:other@127.0.0.1:5432/postgres",
        "ada:secret@127.0.0.1:5432/postgres",
        "postgres:secret@db.example.com:5432/postgres",
        "postgres:secret@127.0.0.1:5432/shop",
    ],
)
def test_url_of_another_database_is_not_that_of_the_folder(tmp_path: Path, other: str) -> None:
    (tmp_path / "password").write_text("secret")

    assert is_own("postgresql://postgres:secret@127.0.0.1:5432/postgres", tmp_path)
    assert not is_own(f"postgresql://{other}", tmp_path)


def test_url_is_not_that_of_a_folder_without_postgres(tmp_path: Path) -> None:
    assert not is_own("postgresql://postgres:secret@127.0.0.1:5432/postgres", tmp_path)
