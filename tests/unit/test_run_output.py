"""The lines of a local run."""

import re
from datetime import UTC, datetime, timedelta
from io import StringIO
from typing import Any
from uuid import uuid4

from rich.console import Console

from minutehand.local.show import Show

JOB = str(uuid4())
FAILED = {"job": JOB, "kind": "invoice.send", "ran_ms": 61_000, "error_type": "TimeoutError"}


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

    cause = {JOB: "TimeoutError: no answer."}
    found = printed(retried, dead, find_cause=cause.get)[1:]

    assert all("invoice/4711" in line for line in found)
    assert "after 1 min 1 s: TimeoutError: no answer; next attempt in 5 min" in found[0]
    assert found[1].endswith("after 1 min 1 s: TimeoutError: no answer.")


def test_columns_are_aligned():
    lapsed = {"message": "offers lapsed", "queue": "mail", "budget": 6, "lapsed": 4}

    enqueued, offers, dead = printed(lapsed, {"message": "dead", **FAILED})

    assert enqueued.index("due in") == offers.index("no worker") == dead.index("after")
    assert offers.endswith("no worker was free for 4 of queue mail; at most 6 are offered at once now")


def test_key_links_to_the_page_of_its_job():
    (line,) = printed(terminal=True, link="http://127.0.0.1:8080/console/jobs/{}".format)

    assert f"http://127.0.0.1:8080/console/jobs/{JOB}" in line
