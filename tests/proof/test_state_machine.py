"""The public API matches a model without SQL, in any order of operations.

MINUTEHAND_HYPOTHESIS=long runs more examples, which differ each time.
"""

import os

import pytest
from hypothesis import HealthCheck, settings
from hypothesis.stateful import (
    run_state_machine_as_test,
)
from machine import Machine

from minutehand import Database
from tests import servers

pytestmark = pytest.mark.every_server

# Read before the environment is cleaned.
LONG = os.environ.get("MINUTEHAND_HYPOTHESIS") == "long"
WHOLE = settings(
    max_examples=2000 if LONG else 250,
    stateful_step_count=100 if LONG else 60,
    derandomize=not LONG,
    database=None,
    deadline=None,
    print_blob=False,
    suppress_health_check=list(HealthCheck),
)
ELSEWHERE = settings(WHOLE, max_examples=500 if LONG else 50)


def test_queue_matches_the_model(database: servers.Database, server_name: str) -> None:
    profile = WHOLE if server_name == "direct-18" else ELSEWHERE
    db = Database(database.url)
    run_state_machine_as_test(type("Here", (Machine,), {"db": db}), settings=profile)
    db.close()
