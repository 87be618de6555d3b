"""The worker processes of a local run."""

from pathlib import Path
from queue import Queue
from typing import Any

import pytest

from minutehand.local.pool import FIRST, Pool

APP = """
import os, time
def handler(event, context):
    while "until" in event and not os.path.exists(event["until"]):
        time.sleep(0.01)
    print('{"message": "ended", "process": %d}' % os.getpid())
"""


@pytest.fixture
def ended() -> Queue[Any]:
    """What the workers print, in order."""
    return Queue()


@pytest.fixture
def pool(tmp_path: Path, ended: Queue[Any]):
    (tmp_path / "app.py").write_text(APP)
    pool = Pool("worker", tmp_path, 10, lambda _name, line: ended.put(line))
    pool.start()
    yield pool
    (tmp_path / "go").touch()
    pool.close()


def test_slow_events_do_not_delay_others(pool: Pool, ended: Queue[Any], tmp_path: Path) -> None:
    for _ in range(FIRST):
        pool.invoke({"until": str(tmp_path / "go")})

    pool.invoke({})

    assert ended.get(timeout=60)["message"] == "ended"
    assert ended.empty()


def test_quick_events_share_the_first_workers(pool: Pool, ended: Queue[Any]) -> None:
    processes = set()
    for _ in range(20):
        pool.invoke({})
        processes.add(ended.get(timeout=60)["process"])

    assert len(processes) <= FIRST + 3
