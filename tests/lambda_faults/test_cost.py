"""The costs computed from the history are those that the emulator meters."""

from datetime import UTC, datetime, timedelta

import pytest

from emulator.meter import Reading
from minutehand.queries.usage import usage
from tests.lambda_faults.conftest import NewStage
from tests.lambda_faults.stage import Stage

# Each invocation handles two jobs of a second, so that the overhead, which the machine's load changes, is small.
SECONDS, CHUNK = 1.0, 2


def spend(stage: Stage, invocations: int) -> Reading:
    """Run invocations one after the other, in one environment; return what the meter has counted so far."""
    for _ in range(invocations):
        for _ in range(CHUNK):
            stage.enqueue("spend", SECONDS)
        stage.lambda_.tick()
        stage.lambda_.settle()
    return stage.lambda_.meter.functions["WorkerFunction"]


@pytest.mark.programs
def test_billed_time_from_history_is_within_5_percent_of_the_meter(new_stage: NewStage) -> None:
    stage = new_stage(seconds=60, MINUTEHAND_CHUNK=str(CHUNK))
    spend(stage, 1)
    begin = datetime.now(UTC)
    # The overhead of a machine is a figure in the table of prices; here it is that of one warm invocation.
    before = stage.lambda_.meter.functions["WorkerFunction"]
    warm = spend(stage, 1).billed_ms - before.billed_ms
    middle = datetime.now(UTC)
    (known,) = usage(stage.database, begin, middle)
    counted = spend(stage, 3)
    end = datetime.now(UTC) + timedelta(seconds=1)

    (found,) = usage(stage.database, middle, end, overhead_ms=max(0.0, warm - known.billed_ms))

    metered = counted.billed_ms - before.billed_ms - warm
    assert (found.kind, found.attempts, round(found.invocations)) == ("spend", 3 * CHUNK, 3)
    assert counted.cold_starts == 1
    assert abs(found.billed_ms - metered) <= 0.05 * metered
    assert found.memory_mb == 512
