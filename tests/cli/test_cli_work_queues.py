"""`minutehand work` serves the queues that its options name, and prints which."""

import json
from contextlib import closing

import pytest

from minutehand import Database, enqueue

QUEUES = ("default", "mail", "reports")


@pytest.fixture
def jobs(direct_database):
    """A due job in each queue."""
    with closing(Database(direct_database.url)) as database:
        for queue in QUEUES:
            enqueue("echo", queue=queue, connection=database)


@pytest.mark.parametrize(
    ("options", "queues", "printed"),
    [
        ((), [*QUEUES], "working on all queues;"),
        (("--queue", "mail=3,reports"), ["mail", "reports"], "working on queues mail (weight 3), reports;"),
        (
            ("--queue", "reports", "--queue", "mail", "--strict"),
            ["reports", "mail"],
            "working on queues reports, mail in strict order;",
        ),
    ],
)
@pytest.mark.usefixtures("jobs")
def test_work_serves_and_prints_its_queues(run, direct_database, options, queues, printed):
    worked = run("work", "--drain", "-o", "json", *options, url=direct_database.url)

    assert [json.loads(line)["queue"] for line in worked.stdout.splitlines()] == queues
    assert printed in worked.stderr.decode()


@pytest.mark.usefixtures("jobs")
def test_several_processes_serve_the_same_queues(run, direct_database):
    options = ("--queue", "mail,reports", "--strict", "--processes", "2")
    worked = run("work", "--drain", "-o", "json", *options, url=direct_database.url)

    assert sorted(json.loads(line)["queue"] for line in worked.stdout.splitlines()) == ["mail", "reports"]
    assert worked.stderr.count(b"working on queues mail, reports in strict order;") == 2


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--queue", "e mail"), "queue must be 1 to 100 letters"),
        (("--queue", "mail=many"), "the weight of queue mail must be an integer from 1 to 1000, got 'many'"),
        (("--queue", "mail,mail"), "queue mail must be given once"),
        (("--strict",), "strict order requires a list of queues"),
    ],
)
def test_invalid_queue_options_are_usage_errors(invoke, options, message):
    worked = invoke("work", *options)

    assert worked.exit_code == 2
    assert message in " ".join(worked.stderr.split())
