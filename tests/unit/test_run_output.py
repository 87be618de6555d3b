"""The lines of a local run."""

import re
from datetime import UTC, datetime, timedelta
from io import StringIO
from typing import Any
from uuid import UUID, uuid4

from rich.console import Console

from minutehand.local.show import MOST_KEYS, Show
from minutehand.model.row import Row

JOB = str(uuid4())
FAILED = {"job": JOB, "kind": "invoice.send", "ran_ms": 61_000, "error_type": "TimeoutError"}


def stored(job: str, key: str | None) -> Row:
    moments: dict[str, Any] = dict.fromkeys(
        ["enqueued", "run_at", "visible", "offered", "claimed", "deleted"], datetime.now(UTC)
    )
    return Row(
        id=UUID(job),
        queue="default",
        kind="invoice.send",
        state="retrying",
        key=key,
        group=None,
        priority=5,
        attempts=1,
        max_attempts=8,
        error={"type": "TimeoutError", "message": "no answer."},
        **moments,
    )


def printed(*lines: dict[str, Any], terminal: bool = False, **options: Any) -> list[str]:
    output = StringIO()
    show = Show(Console(file=output, width=300, force_terminal=terminal), **options)
    show.enqueued({"id": JOB, "kind": "invoice.send", "key": "invoice/4711", "delay": 259_200.0})
    for line in lines:
        show.log("dispatcher" if "budget" in line else "worker", line)
    return [re.sub(r"^(\x1b\[\d+m)?\d\d:\d\d:\d\d", "", line) for line in output.getvalue().splitlines()]


def test_delays_are_printed_in_days():
    (enqueued,) = printed()

    assert enqueued.split() == ["enqueued", "invoice.send", "invoice/4711", "due", "in", "3", "d"]


def test_failures_name_the_key_the_cause_and_the_next_attempt():
    visible = (datetime.now(UTC) + timedelta(minutes=5, seconds=30)).isoformat()
    retried = {"message": "retried", "visible": visible, **FAILED}
    dead = {"message": "dead", **FAILED}

    found = printed(retried, dead, find={JOB: stored(JOB, "invoice/4711")}.get)[1:]

    assert all("invoice/4711" in line for line in found)
    assert "after 1 min 1 s: TimeoutError: no answer; next attempt in 5 min" in found[0]
    assert found[1].endswith("after 1 min 1 s: TimeoutError: no answer.")


def test_released_job_has_its_next_attempt_and_no_time():
    released = {"message": "released", "visible": datetime.now(UTC).isoformat(), "ran_ms": 0, "job": JOB}

    assert printed(released | {"kind": "invoice.send"})[1].split("  ")[-1] == "next attempt now"


def test_columns_are_aligned():
    lapsed = {"message": "offers lapsed", "queue": "mail", "budget": 6, "lapsed": 4}

    enqueued, offers, dead = printed(lapsed, {"message": "dead", **FAILED})

    assert enqueued.index("due in") == offers.index("no worker") == dead.index("after")
    assert offers.endswith("no worker was free for 4 of queue mail; at most 6 are offered at once now")


def test_key_links_to_the_page_of_its_job():
    (line,) = printed(terminal=True, link="http://127.0.0.1:8080/console/jobs/{}".format)

    assert f"http://127.0.0.1:8080/console/jobs/{JOB}" in line


def test_key_of_a_job_of_an_earlier_run_is_read_once():
    read = []

    def find(job: str) -> Row:
        read.append(job)
        return stored(job, None if job == other else "invoice/42")

    earlier, other = str(uuid4()), str(uuid4())
    claimed = [{"message": "done", "kind": "echo", "job": job, "ran_ms": 4} for job in (earlier, other) * 2]
    found = printed(*claimed, find=find)[1:]

    assert ["invoice/42" in line for line in found] == [True, False] * 2
    assert other[-12:] in found[1]
    assert read == [earlier, other]


def test_number_of_remembered_keys_is_bounded():
    show = Show(Console(file=StringIO()))
    for number in range(MOST_KEYS + 5):
        show.enqueued({"id": str(number), "kind": "echo", "key": "k", "delay": 0.0})

    assert len(show._keys) == MOST_KEYS


def test_error_of_each_tick_is_printed_once_until_a_reload():
    output = StringIO()
    show = Show(Console(file=output, width=300))
    tick = {"message": "schedules are not installed", "reason": "invalid syntax (jobs.py, line 29)"}

    for _ in range(3):
        show.log("dispatcher", tick)
        show.log("worker", {"message": "printed", "text": "of a handler"})
    show.reloaded(["shop/jobs.py"])
    show.log("dispatcher", tick)

    assert (output.getvalue().count("invalid syntax"), output.getvalue().count("of a handler")) == (2, 3)


def test_hint_says_whether_there_were_jobs():
    output = StringIO()
    show = Show(Console(file=output, width=300))

    show.hint(8080)
    assert "waiting for jobs. Enqueue one from a second terminal:" in output.getvalue()
    show.log("worker", {"message": "done", "kind": "echo", "job": JOB, "ran_ms": 4})
    show.hint(8080)
    assert "all jobs are finished: 1 done. Enqueue another job from a second terminal:" in output.getvalue()
