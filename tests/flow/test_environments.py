"""Many execution environments share the few connections of a pooled server."""

import json
import os
import subprocess
import sys
from collections import Counter
from collections.abc import Sequence
from datetime import timedelta
from pathlib import Path

import pytest

from minutehand import NewJob, enqueue_many
from minutehand.offer import offer
from tests.conftest import NewDatabase
from tests.flow.stage import Flow
from tests.thorough import amount

ENVIRONMENTS, JOBS, CONNECTIONS = amount(60, 300), amount(180, 900), 20


@pytest.mark.thorough
def test_pool_of_20_connections_serves_all_environments(new_database: NewDatabase) -> None:
    database = new_database("wide-pgbouncer-18")
    flow = Flow(database, home=None)  # type: ignore[arg-type]
    list(enqueue_many([NewJob("echo", n) for n in range(JOBS)], connection=flow.database))
    offers = offer(flow.database, JOBS, timedelta(minutes=10)).offers
    events = [{"queue": made.queue, "offers": [[str(made.id), str(made.ack)]]} for made in offers]

    answers = environments(database.url, events)

    assert Counter(json.dumps(answer) for answer in answers) == {'{"done": 1}': JOBS}
    assert flow.sql("select count(*), sum(attempts) from minutehand.jobs_done where not failed") == [
        (JOBS, JOBS)
    ]
    ((connections, prepared),) = flow.sql(
        """select count(*) filter (where datname = current_database() and pid <> pg_backend_pid()),
                  (select count(*) from pg_prepared_statements)
             from pg_stat_activity"""
    )
    assert connections <= CONNECTIONS
    assert prepared == 0
    flow.close()


def environments(url: str, events: Sequence[object]) -> list[dict[str, object]]:
    """Send the events to that many concurrent processes."""
    order = json.dumps({"environments": ENVIRONMENTS, "events": events})
    script = Path(__file__).with_name("environments.py")
    reach = {"DATABASE_URL": url, "MINUTEHAND_CONNECT_TIMEOUT": "60"}
    ended = subprocess.run(
        [sys.executable, script],
        input=order,
        capture_output=True,
        text=True,
        env=os.environ | reach,
        check=False,
    )
    assert ended.returncode == 0, ended.stderr
    answers: list[dict[str, object]] = json.loads(ended.stdout)
    return answers
