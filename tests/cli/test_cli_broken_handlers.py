"""Commands say which handler module is broken, and where, before it costs a job an attempt."""

from pathlib import Path

import pytest

JOBS = "from minutehand import job\n\n\n@job\ndef greet(name: str) -> str:\n    return f'hello {name}'\n"


@pytest.fixture
def shop(tmp_path: Path) -> Path:
    """The folder of a project with jobs in shop/jobs.py."""
    (tmp_path / "shop").mkdir()
    (tmp_path / "shop" / "jobs.py").write_text(JOBS)
    (tmp_path / "pyproject.toml").write_text('[tool.minutehand]\nhandlers = ["shop.jobs"]\n')
    return tmp_path


def test_enqueue_with_a_syntax_error_in_the_module_names_its_line(run, direct_database, shop):
    (shop / "shop" / "jobs.py").write_text(f"{JOBS}greet(\n")

    done = run("enqueue", "greet", "{}", url=direct_database.url, cwd=shop)

    expected = (
        "error: shop.jobs has a syntax error in line 7: '(' was never closed; correct it, then try again"
    )
    assert (done.returncode, done.stderr.decode().splitlines()) == (2, [expected])


@pytest.mark.parametrize(
    ("line", "cause"),
    [
        ("greet(", "SyntaxError: '(' was never closed"),
        ("import nopkg", "ModuleNotFoundError: No module named 'nopkg'"),
        ("raise SystemExit(3)", "SystemExit: 3"),
    ],
)
def test_work_refuses_a_module_that_cannot_be_imported(run, direct_database, shop, line, cause):
    (shop / "shop" / "jobs.py").write_text(f"{JOBS}{line}\n")

    done = run("work", "--drain", url=direct_database.url, cwd=shop)

    at = "(shop/jobs.py, line 7); correct it, then start again"
    expected = f"error: shop.jobs cannot be imported: {cause} {at}\n"
    assert (done.returncode, done.stderr.decode()) == (2, expected)


def test_work_refuses_a_folder_with_a_syntax_error_in_a_file(run, direct_database, shop):
    (shop / "pyproject.toml").unlink()
    (shop / "shop" / "jobs.py").write_text(f"{JOBS}greet(\n")

    done = run("work", "--drain", "--handlers", "shop", url=direct_database.url, cwd=shop)

    assert (done.returncode, b"shop.jobs has a syntax error in line 7" in done.stderr) == (2, True)


def test_work_warns_of_a_module_that_declares_no_job(run, direct_database, shop):
    (shop / "shop" / "empty.py").touch()

    done = run("work", "--drain", "--handlers", "shop.empty", url=direct_database.url, cwd=shop)

    warnings = [line for line in done.stderr.decode().splitlines() if "warning" in line]
    assert (done.returncode, warnings) == (0, ["warning: module shop.empty declares no job"])


def test_work_refuses_a_missing_module_of_the_setting(run, direct_database, shop, monkeypatch):
    monkeypatch.setenv("MINUTEHAND_HANDLERS", "shop.tasks")

    done = run("work", "--drain", url=direct_database.url, cwd=shop)

    message = b"Invalid value for MINUTEHAND_HANDLERS: module shop.tasks not found"
    assert (done.returncode, message in done.stderr) == (2, True)
