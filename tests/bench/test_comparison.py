"""The sentences of docs/performance.md that compare queues."""

import pytest

from bench.page.comparison import compare
from bench.queues.systems import OURS
from bench.results import Measurement, Results


@pytest.mark.parametrize(
    ("rates", "sentences"),
    [
        ({"pgmq": 30.0, "pg-boss": 5.0}, "pgmq is faster. pg-boss is slower."),
        ({"pgqueuer": 20.0, "pgmq": 30.0}, "pgmq and PgQueuer are faster."),
        ({"docmq": 1.0, "pg-boss": 10.0, "pgqueuer": 2.0}, "pg-boss, PgQueuer and DocMQ are slower."),
        # Not a queue.
        ({"bare": 30.0}, ""),
    ],
)
def test_queues_are_listed_by_their_speed(rates: dict[str, float], sentences: str) -> None:
    case = Measurement("", 1, 1, {OURS: [10.0]} | {name: [rate] for name, rate in rates.items()}, {})

    assert compare(Results(cases={"one": case}), "one") == sentences
