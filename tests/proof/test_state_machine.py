"""The public API matches a model without SQL, in any order of operations."""

import pytest
from hypothesis import HealthCheck, settings
from hypothesis.stateful import (
    run_state_machine_as_test,
)
from machine import Machine

from minutehand import Database
from tests import servers
from tests.thorough import THOROUGH, amount

pytestmark = [pytest.mark.every_server, pytest.mark.thorough]

PROFILE = settings(
    max_examples=amount(25, 500),
    stateful_step_count=60,
    derandomize=not THOROUGH,
    database=None,
    deadline=None,
    print_blob=False,
    suppress_health_check=list(HealthCheck),
)


def test_queue_matches_the_model(database: servers.Database) -> None:
    db = Database(database.url)
    run_state_machine_as_test(type("Here", (Machine,), {"db": db}), settings=PROFILE)
    db.close()
