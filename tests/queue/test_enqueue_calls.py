"""What Python does for one enqueue: a bounded number of calls."""

from collections import Counter
from datetime import timedelta
from typing import Any

import pytest

from minutehand.database.preparing import USES
from tests.queue.calls import count_calls
from tests.queue.stage import Queue

# From the call of `enqueue` to its result, with a prepared statement: 79, and two of this test.
MOST_CALLS = 83


@pytest.fixture(autouse=True)
def undisturbed(monkeypatch: pytest.MonkeyPatch) -> None:
    """Hooks of other tests are not called, and a statement stays prepared on a busy machine."""
    monkeypatch.setattr("minutehand.events.hooks._hooks", {})
    monkeypatch.setattr("minutehand.database.preparing.FRESH_SECONDS", 3600.0)


def calls_of_enqueue(queue: Queue, options: dict[str, Any]) -> Counter[str]:
    """Return the calls of the enqueue that makes fewest: some look at the clock, or prepare the statement."""
    calls = [count_calls(lambda: queue.enqueue(payload={"n": 1}, **options)) for _ in range(USES + 5)]
    return min(calls, key=Counter.total)


@pytest.mark.parametrize("options", [{}, {"queue": "other", "delay": timedelta(hours=1), "priority": 9}])
def test_enqueue_takes_few_calls(direct_queue: Queue, options: dict[str, Any]) -> None:
    calls = calls_of_enqueue(direct_queue, options)

    assert calls.total() <= MOST_CALLS + 3 * len(options), (calls.total(), calls.most_common(20))
