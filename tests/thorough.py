"""How much the tests marked `thorough` do: some of it in `make test`, all of it in `make test/thorough`."""

import os
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import HealthCheck, settings

# Read before the environment is cleaned.
THOROUGH = os.environ.get("MINUTEHAND_TEST_THOROUGH") == "1"


def amount(some: int, all: int) -> int:
    """Return the number of examples, steps or jobs for this run."""
    return all if THOROUGH else some


def examples(some: int, all: int, **options: Any) -> Callable[[Any], Any]:
    """Mark a test with `@given` as thorough, and set its number of examples."""
    profile = settings(
        max_examples=amount(some, all),
        suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
        **options,
    )

    def mark(test: Any) -> Any:
        return pytest.mark.thorough(profile(test))

    return mark
