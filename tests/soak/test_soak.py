"""The queue keeps its promises under faults, and the checker notices each fence that is removed.

MINUTEHAND_SOAK_SECONDS   the duration of the run with all fences, 60 by default
MINUTEHAND_SOAK_SEED      the seed of the load and of the faults
"""

import os
from pathlib import Path

import pytest

from tests.servers import Database
from tests.soak.fences import FENCES, LIBRARY, Fence
from tests.soak.flow_fences import FLOW_FENCES
from tests.soak.run import run

SECONDS = float(os.environ.get("MINUTEHAND_SOAK_SECONDS", "60"))
ALL_FENCES = FENCES + FLOW_FENCES
# A fault that needs a coincidence is found by one of these.
SEEDS = (1, 2, 3)
SEED = int(os.environ.get("MINUTEHAND_SOAK_SEED", "1"))
ROOT = Path(__file__).parents[2]


@pytest.mark.parametrize("fence", ALL_FENCES, ids=lambda fence: fence.name)
def test_fence_is_in_its_file(fence: Fence) -> None:
    path = ROOT / LIBRARY / fence.file

    assert fence.changed(path.read_text("utf-8")) != path.read_text("utf-8")


@pytest.mark.soak
@pytest.mark.parametrize("mode", ["minute", "prompt"])
def test_promises_hold_under_faults(fresh_database: Database, tmp_path: Path, mode: str) -> None:
    result = run(fresh_database, tmp_path, seconds=SECONDS, seed=SEED, mode=mode)

    print(f"{result.jobs} jobs, {result.attempts} attempts; {result.faults}")
    assert not result.violations, "\n".join(map(str, result.violations))


@pytest.mark.soak
@pytest.mark.parametrize("fence", ALL_FENCES, ids=lambda fence: fence.name)
def test_checker_notices_a_missing_fence(fence: Fence, new_database, tmp_path: Path) -> None:  # type: ignore[no-untyped-def]
    seen: set[str] = set()
    for seed in SEEDS:
        folder = tmp_path / str(seed)
        folder.mkdir()
        result = run(new_database(), folder, seconds=fence.seconds, seed=seed, fence=fence)
        if result.promises & {*fence.promises}:
            return
        seen |= result.promises
    pytest.fail(f"expected one of {fence.promises} to be broken, got {seen or 'none'}")
