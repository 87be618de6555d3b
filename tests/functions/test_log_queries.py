"""The log lines of docs/metrics.md exist, and the queries for Logs Insights use the fields that they have."""

import inspect
import re
from collections import defaultdict
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path

import pytest

from minutehand.functions import dispatcher
from minutehand.functions.api import request_log
from minutehand.functions.dispatcher import WITHDRAW_SECONDS
from minutehand.model.event import NAMES
from tests.functions.fleet import Fleet, event, lines
from tests.retries import IN_AN_HOUR

PAGE = Path(__file__).parents[2] / "docs" / "metrics.md"
SYNTAX = {
    *("filter", "stats", "sort", "display", "limit", "and", "in", "as", "by", "asc", "desc", "bin"),
    *("count", "count_distinct", "max", "sum", "pct"),
}
# A handler whose job is claimed by another worker.
LOSE = """
import os, psycopg
def handle(payload):
    with psycopg.connect(os.environ["DATABASE_URL"]) as connection:
        connection.execute("update minutehand.jobs_live set ack = gen_random_uuid()")
"""
# Everything that is logged, by service and message.
Fields = dict[tuple[str, str], set[str]]


@pytest.fixture
def fields(fleet: Fleet, handler: Callable[[str], str], monkeypatch: pytest.MonkeyPatch) -> Fields:
    """The fields of the lines of ticks, refused invocations and schedules, lapsed offers and attempts."""
    invitation = event("worker-offers")
    fleet.offer(invitation["offers"])
    fleet.work(invitation)
    kind = handler("def handle(payload): raise ValueError(payload)\n")
    for attempts in (1, 2):
        fleet.enqueue(kind, max_attempts=attempts, retry=IN_AN_HOUR)
        fleet.work({"queue": "default"})
    fleet.enqueue(handler(LOSE))
    fleet.work({"queue": "default"})
    for _ in range(3):
        fleet.enqueue(kind, max_attempts=1)
    fleet.tick({})
    fleet.sql(
        """update minutehand.jobs_live
              set run_at = run_at, visible = (select ticked from minutehand.dispatcher) + interval '1 ms'"""
    )
    fleet.sql(
        """insert into minutehand.schedules (name, every, zone, job, next, wake)
           values ('nightly', '@daily', 'Mars/Base', '{"kind": "echo"}', now(), now())"""
    )
    lost = fleet.enqueue(max_attempts=1)
    fleet.sql(
        "update minutehand.jobs_live set attempts = 1, claimed = now(), ack = gen_random_uuid() where id = %(id)s",
        id=lost,
    )
    fleet.aws.known.clear()
    fleet.tick({})
    fleet.tick({"invitations": []})
    monkeypatch.setenv("MINUTEHAND_MODE", "prompt")
    # It has no time left to wait for jobs, and logs the same fields.
    fleet.tick({}, left=timedelta(seconds=WITHDRAW_SECONDS))
    found: Fields = defaultdict(set)
    for line in lines(fleet.read_output()):
        found[line["service"], line["message"]] |= line.keys()
    return found


def queries() -> list[str]:
    section = PAGE.read_text("utf-8").partition("## Logs Insights\n")[2].partition("\n## ")[0]
    return re.findall(r"```text\n(.*?)```", section, re.DOTALL)


def test_queries_use_fields_of_the_lines_that_they_select(fields: Fields) -> None:
    assert len(queries()) >= 7
    for query in queries():
        # That of the API has a test in test_correlation.py of the API.
        if 'service = "api"' in query:
            continue
        service = re.search(r'service = "(\w+)"', query)
        messages = re.search(r'message (?:= |in \[)("[^\]\n]*")', query)
        names = re.findall(r'"(\w+)"', messages[1]) if messages else None
        selected = {
            key: each
            for key, each in fields.items()
            if (not service or key[0] == service[1]) and (not names or key[1] in names)
        }
        assert not names or {message for _, message in selected} <= {*names}
        known = set().union(*selected.values()) | {"@timestamp"} | {*re.findall(r" as (\w+)", query)}
        used = {*re.findall(r"@?[a-z_]+", re.sub(r'"[^"]*"|bin\(\w+\)', "", query))} - SYNTAX
        assert used <= known, (query, used - known)


def test_page_describes_every_message_of_the_functions() -> None:
    page = PAGE.read_text("utf-8").partition("| message | service | written |\n")[2].partition("\n\n")[0]
    described: dict[str, set[str]] = defaultdict(set)
    for names, service in re.findall(r"^\| (`.+?`) \| (\w+) \|", page, re.MULTILINE):
        described[service] |= {*re.findall("`(.+?)`", names)}

    written = re.findall(r'logger\.\w+\("([^"]+)"', inspect.getsource(dispatcher))
    assert described["dispatcher"] == {*written, "schedules are not installed", "limits are not installed"}
    assert described["api"] == {*re.findall(r'logger\.\w+\("([^"]+)"', inspect.getsource(request_log))}
    assert {"claimed", "lost"} < described["worker"] < {*NAMES}
