"""The worker processes of a local run."""

import json
import subprocess
import sys
from pathlib import Path
from queue import Queue
from threading import Thread
from typing import Any

import pytest

from minutehand.local.pool import FIRST, Pool
from tests.watchdog import watched

APP = """
import json, os, time
def handler(event, context):
    if "job" in event:
        print(json.dumps({"message": "claimed", "job": event["job"]}), flush=True)
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


def test_pool_counts_the_jobs_that_run(pool: Pool, ended: Queue[Any], tmp_path: Path) -> None:
    pool.invoke({"job": "1", "until": str(tmp_path / "go")})
    assert ended.get(timeout=60)["message"] == "claimed"
    assert pool.running == 1


def test_urgent_close_interrupts_events_of_all_processes(
    pool: Pool, ended: Queue[Any], tmp_path: Path
) -> None:
    for _ in range(pool.size):
        pool.invoke({"job": "1", "until": str(tmp_path / "never")})
    for _ in range(pool.size):
        assert ended.get(timeout=60)["message"] == "claimed"

    assert pool.close(lambda: True)
    # Neither an end nor a crash.
    assert ended.empty()


def test_close_waits_for_events_that_end(pool: Pool, ended: Queue[Any], tmp_path: Path) -> None:
    pool.invoke({"job": "1", "until": str(tmp_path / "go")})
    assert ended.get(timeout=60)["message"] == "claimed"
    interrupted: list[bool] = []
    closing = Thread(target=lambda: interrupted.append(pool.close(grace=300)))
    closing.start()
    (tmp_path / "go").touch()
    closing.join()

    assert (interrupted, ended.get(timeout=60)["message"]) == ([False], "ended")


def test_stopped_function_has_no_time_left(tmp_path: Path, ended: Queue[Any]) -> None:
    (tmp_path / "app.py").write_text(
        "def handler(event, context):\n"
        "    print('{}', flush=True)\n"
        "    while context.get_remaining_time_in_millis():\n"
        "        pass\n"
    )
    pool = Pool("worker", tmp_path, 1, lambda _name, line: ended.put(line), timeout=600)
    pool.start()
    pool.invoke({})
    assert ended.get(timeout=60) == {}

    assert not pool.close(grace=300)


def test_worker_of_a_killed_run_ends_without_a_traceback(tmp_path: Path) -> None:
    (tmp_path / "app.py").write_text("import os\ndef handler(event, context):\n    os.read(event['go'], 1)\n")
    command = [sys.executable, "-m", "minutehand.local.environment", str(tmp_path), "worker", "60"]
    with watched(
        subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    ) as worker:
        assert worker.stdin is not None and worker.stdout is not None and worker.stderr is not None
        worker.stdout.close()
        # Standard input is what the handler reads, so the event ends when it closes.
        worker.stdin.write(json.dumps({"go": 0}).encode() + b"\n")
        worker.stdin.close()

        assert (worker.stderr.read(), worker.wait()) == (b"", 0)


def test_interrupt_while_a_worker_exits_prints_nothing(tmp_path: Path) -> None:
    """A run that is stopped at once closes the input of a worker, and may interrupt it while Python shuts down."""
    (tmp_path / "app.py").write_text(
        "import atexit, os, signal\n"
        "atexit.register(os.kill, os.getpid(), signal.SIGUSR1)\n"
        "def handler(event, context): pass\n"
    )
    command = [sys.executable, "-m", "minutehand.local.environment", str(tmp_path), "worker", "10"]

    done = subprocess.run(command, input="", capture_output=True, text=True, check=False)

    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
