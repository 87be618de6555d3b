"""A local run has no wake-ups."""

from pathlib import Path

import pytest

from minutehand.local.errors import LocalError
from minutehand.local.plan import Plan, check
from minutehand.project.configuration import read_configuration


def test_local_run_refuses_the_mode(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MINUTEHAND_MODE", "sleep")
    plan = Plan(
        root=tmp_path,
        functions=tmp_path,
        configuration=read_configuration(tmp_path, ("shop.jobs",)),
        port=0,
        every=60,
        workers=1,
        seed=False,
        until_idle=True,
    )
    with pytest.raises(LocalError, match="minutehand dev has no EventBridge Scheduler"):
        check(plan)
