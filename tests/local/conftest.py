"""A project whose job waits."""

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from dev_runs import processes_of

from minutehand.local import postgres

ROOT = Path(__file__).parent.parent.parent
# Waits until a file exists; a stubborn one is not interrupted.
GATE = """
from pathlib import Path
from threading import Event

def handle(payload):
    while not Path(payload["until"]).exists():
        try:
            Event().wait(0.05)
        except BaseException:
            if not payload.get("stubborn"):
                raise
"""


@pytest.fixture
def project(tmp_path: Path) -> Iterator[Path]:
    shutil.copytree(ROOT / "functions", tmp_path / "functions", ignore=shutil.ignore_patterns("__pycache__"))
    (tmp_path / "functions/worker/handlers/gate.py").write_text(GATE)
    yield tmp_path
    for process in processes_of(tmp_path):
        process.kill()
    postgres.stop(tmp_path / ".minutehand")
