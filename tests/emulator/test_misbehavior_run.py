"""`python -m emulator --worst` runs the project under a misbehaving Lambda."""

from pathlib import Path

import pytest

from tests.emulator.test_run import SECONDS, start
from tests.servers import Database


@pytest.mark.slow
@pytest.mark.parametrize("arguments", [("--worst", "4711"), ()])
def test_run_reports_the_seed_of_its_misbehavior(
    direct_database: Database, tmp_path: Path, arguments: tuple[str, ...]
) -> None:
    run = start(tmp_path, "--no-seed", "--every", "1", "--until-idle", *arguments, url=direct_database.url)
    output, _ = run.communicate(timeout=SECONDS)

    assert run.returncode == 0, output
    assert ("--worst 4711   " in output) == bool(arguments), output
