"""`minutehand events`: stored events, and new ones with --follow."""

import json
import signal

import pytest

from minutehand import Database, enqueue


@pytest.fixture
def queue(direct_database, monkeypatch):
    """A database that stores its events."""
    monkeypatch.setenv("MINUTEHAND_EVENTS", "table")
    database = Database(direct_database.url)
    yield database
    database.close()


def test_latest_events_are_listed_in_order(invoke, lines, queue):
    first, second = enqueue("echo", connection=queue).id, enqueue("mail", queue="post", connection=queue).id
    assert invoke("cancel", str(second), "--yes").exit_code == 0

    reported = [(event["name"], event["job"]) for event in lines(invoke("events", "-o", "json"))]

    assert reported == [("enqueued", str(first)), ("enqueued", str(second)), ("cancelled", str(second))]


@pytest.mark.parametrize(
    ("filters", "kinds"),
    [
        (["--name", "enqueued"], ["echo", "mail"]),
        (["--name", "dead"], []),
        (["--kind", "mail"], ["mail"]),
        (["--queue", "post"], ["mail"]),
        (["--limit", "1"], ["mail"]),
    ],
)
def test_events_are_filtered(invoke, lines, queue, filters, kinds):
    enqueue("echo", connection=queue)
    enqueue("mail", queue="post", connection=queue)

    assert [event["kind"] for event in lines(invoke("events", "-o", "json", *filters))] == kinds


def test_events_of_one_job(invoke, queue):
    jobs = [enqueue("echo", connection=queue).id for _ in range(2)]
    shown = invoke("events", "--job", str(jobs[0])).stdout

    assert str(jobs[0]) in shown and str(jobs[1]) not in shown
    assert "outcome=created" in shown


def test_empty_list_says_how_to_store_events(invoke):
    result = invoke("events")

    assert (result.exit_code, result.stdout) == (0, "")
    assert "MINUTEHAND_EVENTS=table" in result.stderr


def test_follow_prints_each_new_event_once_until_interrupted(popen, direct_database, queue):
    enqueue("echo", "one", key="one", connection=queue)
    following = popen("events", "--follow", "-o", "json", url=direct_database.url)
    keys = [json.loads(following.stdout.readline())["facts"]["key"]]
    for key in ("two", "three"):
        enqueue("echo", key=key, connection=queue)
        keys.append(json.loads(following.stdout.readline())["facts"]["key"])
    following.send_signal(signal.SIGINT)

    assert following.wait(180) == 130
    assert keys == ["one", "two", "three"]
    assert following.stdout.read() == b""
