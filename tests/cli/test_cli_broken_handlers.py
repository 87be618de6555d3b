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
