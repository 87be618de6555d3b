"""`minutehand dev`: slow jobs of one queue leave the jobs of others alone, and its address leads to the console."""

import signal
from contextlib import closing
from datetime import timedelta
from pathlib import Path
from urllib.request import urlopen

import psycopg
import pytest
from dev_runs import finished, start, until

from minutehand import enqueue_many
from minutehand.database import Database
from minutehand.model.new_job import NewJob
from tests.ports import free_port

FAST = 20
# More than are printed at once.
MANY = 5000
ENDED = "select queue, count(*) from minutehand.jobs where deleted is not null group by 1"


@pytest.mark.programs
def test_slow_jobs_do_not_starve_other_queues(project: Path) -> None:
    gate = project / "open"
    run = start(project, "--no-seed", "--workers", "3")
    until(run, "ticks")
    url = (project / ".minutehand" / "url").read_text()
    slow = [NewJob("gate", {"until": str(gate)}, queue="slow")] * 2
    with closing(Database(url)) as database:
        list(enqueue_many(slow, connection=database))
        for _ in slow:
            until(run, "claimed")
        list(enqueue_many([NewJob("echo", n, queue="fast") for n in range(FAST)], connection=database))
        for _ in range(FAST):
            until(run, "done")

    with psycopg.connect(url) as connection:
        ended: dict[str, int] = dict(connection.execute(ENDED).fetchall())
        budgets = connection.execute("select queue, budget from minutehand.budgets").fetchall()
    gate.touch()
    for _ in slow:
        until(run, "done")
    run.send_signal(signal.SIGINT)

    assert "22 done" in finished(run)
    assert (ended, budgets) == ({"fast": FAST}, [])


@pytest.mark.programs
def test_last_line_counts_jobs_that_were_not_printed(project: Path) -> None:
    run = start(project, "--no-seed")
    until(run, "ticks")
    later = [NewJob("echo", delay=timedelta(days=1))] * MANY
    with closing(Database((project / ".minutehand" / "url").read_text())) as database:
        list(enqueue_many(later, connection=database))
    run.send_signal(signal.SIGINT)

    assert f"stopped: {MANY} enqueued" in finished(run)


@pytest.mark.programs
def test_address_of_the_run_leads_to_the_console(project: Path) -> None:
    run = start(project, "--no-seed", port=(port := free_port()))
    until(run, "ticks")

    with urlopen(f"http://127.0.0.1:{port}/", timeout=60) as page:
        found = page.url, page.read()
    run.send_signal(signal.SIGINT)
    finished(run)

    assert found[0] == f"http://127.0.0.1:{port}/console"
    assert b"<title>" in found[1]
