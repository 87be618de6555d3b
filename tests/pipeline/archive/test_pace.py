"""The number of sessions that read follows the queue's latency."""

from minutehand_pipeline.archive.pace import CALM_EVERY, CALM_PROBES, LONGEST_PAUSE, PAUSE, PROBES, Pace

CALM = 0.001


def note(pace: Pace, ratio: float, probes: int = PROBES) -> int:
    """Note probes whose latency has this ratio to that without reads; return the number of open slots."""
    for _ in range(probes):
        pace.note(CALM if pace.open == 0 else CALM * ratio)
    return pace.open


def paused(pace: Pace) -> int:
    """Return the number of probes until a slot opens."""
    probes = 0
    while pace.open == 0:
        pace.note(CALM)
        probes += 1
    return probes


def measured(slots: int = 8) -> Pace:
    pace = Pace(slots)
    assert paused(pace) == PROBES and pace.open == 1
    return pace


def test_slots_open_one_by_one_while_the_latency_is_the_same() -> None:
    pace = measured(slots=3)

    assert [note(pace, 1.1) for _ in range(4)] == [2, 3, 3, 3]


def test_slots_stay_between_the_two_ratios() -> None:
    pace = measured()

    assert [note(pace, 1.7) for _ in range(4)] == [1, 1, 1, 1]


def test_doubled_latency_halves_the_slots() -> None:
    pace = measured()
    for _ in range(3):
        note(pace, 1.0)

    assert [note(pace, 2.0), note(pace, 1.7)] == [2, 0]  # the second closes all for a moment
    assert (paused(pace), pace.open) == (CALM_PROBES, 2)


def test_pauses_grow_while_one_session_disturbs() -> None:
    pace = measured()

    pauses = []
    for _ in range(7):
        assert note(pace, 3.0) == 0
        pauses.append(paused(pace))
    assert pauses == [min(PAUSE * 2**n, LONGEST_PAUSE) for n in range(7)]
    note(pace, 1.7)
    assert note(pace, 3.0) == 0 and paused(pace) == PAUSE


def test_latency_without_reads_is_measured_again() -> None:
    pace = measured(slots=1)

    for _ in range(10 * CALM_EVERY):
        note(pace, 1.0, PROBES if pace.open else CALM_PROBES)
    # The queue is slower now, with and without reads.
    for _ in range(PROBES // CALM_PROBES):
        while pace.open:
            pace.note(CALM * 1.9)
        for _ in range(CALM_PROBES):
            pace.note(CALM * 1.9)
    assert pace.open == 1
    for _ in range(PROBES):
        pace.note(CALM * 2.5)
    assert pace.open == 1


def test_one_outlier_does_not_stop_the_reads() -> None:
    pace = measured(slots=1)

    pace.note(CALM * 100)
    assert note(pace, 1.0, PROBES - 1) == 1
