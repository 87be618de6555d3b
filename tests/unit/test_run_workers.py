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
    os.write(1, event.get("printed", "").encode("latin-1"))
    print('{"message": "ended", "process": %d}' % os.getpid())
    print(event.get("tail", ""), end="")
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


def test_output_of_a_handler_does_not_stop_its_worker(pool: Pool, ended: Queue[Any]) -> None:
    processes = set()
    for printed in ("\xff\n", "\n\n", '{"message": "x", "job": 1}\n') * 4:
        pool.invoke({"printed": printed, "tail": "50%"})
        while "process" not in (line := ended.get(timeout=60)):
            pass
        processes.add(line["process"])

    assert len(processes) <= FIRST + 3


def test_quick_events_share_the_first_workers(pool: Pool, ended: Queue[Any]) -> None:
    processes = set()
    for _ in range(20):
        pool.invoke({})
        processes.add(ended.get(timeout=60)["process"])

    assert len(processes) <= FIRST + 3
