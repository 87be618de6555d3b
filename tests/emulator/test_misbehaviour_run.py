"""`python -m emulator --worst`: the project under a misbehaving Lambda, at the terminal."""

from pathlib import Path

import pytest

from tests.emulator.test_run import SECONDS, start
from tests.servers import Database


@pytest.mark.slow
@pytest.mark.parametrize("arguments", [("--worst", "4711"), ()])
def test_a_run_says_by_which_seed_it_was_at_its_worst(
    direct_database: Database, tmp_path: Path, arguments: tuple[str, ...]
) -> None:
    run = start(tmp_path, "--no-seed", "--every", "1", "--until-idle", *arguments, url=direct_database.url)
    output, _ = run.communicate(timeout=SECONDS)

    assert run.returncode == 0, output
    assert ("--worst 4711   " in output) == bool(arguments), output
