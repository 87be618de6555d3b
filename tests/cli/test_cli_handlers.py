"""`minutehand work --handlers`: modules, folders, or those of the project."""

from contextlib import closing
from pathlib import Path

import pytest

from minutehand import Database, enqueue
from minutehand.queries.jobs import get

JOBS = "from minutehand import job\n\n\n@job\ndef greet(name: str) -> str:\n    return f'hello {name}'\n"
PROJECT = '[tool.minutehand]\nhandlers = ["shop.jobs"]\n'


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A folder with jobs in shop/jobs.py."""
    (tmp_path / "shop").mkdir()
    (tmp_path / "shop" / "jobs.py").write_text(JOBS)
    return tmp_path


def result_of(run, direct_database, project, *arguments: str) -> object:
    with closing(Database(direct_database.url)) as database:
        job = enqueue("greet", {"name": "Ada"}, connection=database)
        done = run("work", "--drain", *arguments, url=direct_database.url, cwd=project)
        assert done.returncode == 0, done.stderr
        return get(database, job.id).result


def test_work_runs_the_jobs_of_a_module(run, direct_database, project):
    assert result_of(run, direct_database, project, "--handlers", "shop.jobs") == "hello Ada"


def test_work_runs_the_jobs_of_the_project(run, direct_database, project):
    (project / "pyproject.toml").write_text(PROJECT)

    assert result_of(run, direct_database, project) == "hello Ada"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((), "error: no handlers are named here; run this in the folder of a project, pass --handlers"),
        (("--handlers", "./none"), "pass a folder, or a module such as shop.jobs"),
        (("--handlers", "shop.tasks"), "module shop.tasks not found"),
        (("--handlers", "stock.jobs"), "start the command in the folder that contains stock"),
    ],
)
def test_work_without_handlers_is_refused(run, direct_database, project, arguments, message):
    done = run("work", "--drain", *arguments, url=direct_database.url, cwd=project)

    assert (done.returncode, message in done.stderr.decode()) == (2, True)


@pytest.mark.parametrize(
    "install", [("schedules", "install", "shop.plans"), ("limit", "--install", "shop.plans:LIMITS")]
)
def test_install_finds_the_modules_of_this_folder(run, direct_database, project, install):
    (project / "shop" / "plans.py").write_text("SCHEDULES = LIMITS = []\n")

    done = run(*install, url=direct_database.url, cwd=project)
    elsewhere = run(*install, url=direct_database.url, cwd=project / "shop")

    assert (done.returncode, elsewhere.returncode) == (0, 2)
    advice = b": no module named shop; start the command in the folder that contains shop, or set PYTHONPATH"
    assert advice in elsewhere.stderr
