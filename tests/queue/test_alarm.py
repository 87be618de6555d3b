"""The alarm that limits attempts, which a handler may use for something else."""

import os
import signal
from contextlib import suppress
from math import inf
from threading import Event
from time import monotonic

import pytest

from minutehand import OutOfTime
from minutehand.attempts.time_limit import _alarm, time_limit, time_limits, watched
from tests.queue.stage import LEASE, Queue


def test_watched_alarm_is_set_again_after_a_handler_used_it(queue: Queue) -> None:
    job = queue.claimed(timeout=LEASE)
    job.lease.start()
    with time_limits(), watched(), time_limit(job.lease):
        # As a handler does that limits a call of its own.
        former = signal.signal(signal.SIGALRM, lambda *_: None)
        signal.alarm(0)
        signal.signal(signal.SIGALRM, former)
        with watched():
            pass

        assert 0 < signal.getitimer(signal.ITIMER_REAL)[0] <= LEASE.total_seconds()


def test_alarm_that_a_handler_uses_is_left_to_it(queue: Queue) -> None:
    job = queue.claimed(timeout=LEASE)
    job.lease.start()
    with time_limits(), time_limit(job.lease):
        former = signal.signal(signal.SIGALRM, lambda *_: None)
        signal.alarm(0)
        with watched():
            pass
        signal.signal(signal.SIGALRM, former)

        assert signal.getitimer(signal.ITIMER_REAL)[0] == 0


def test_watched_alarm_that_is_due_is_set_again(queue: Queue) -> None:
    job = queue.claimed(timeout=LEASE)
    job.lease.start()
    with time_limits(), time_limit(job.lease):
        signal.alarm(0)
        job.lease.deadline = _alarm._rings_at = monotonic()
        with suppress(OutOfTime):
            with watched():
                pass
            Event().wait(60)

        assert _alarm._rings_at == inf


def test_alarm_that_rings_twice_raises_once(queue: Queue) -> None:
    job = queue.claimed(timeout=LEASE)
    job.lease.start()
    with time_limits(), time_limit(job.lease):
        job.lease.deadline = monotonic()
        with pytest.raises(OutOfTime):
            signal.raise_signal(signal.SIGALRM)
        signal.raise_signal(signal.SIGALRM)


@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_attempt_of_a_forked_process_has_its_limit(queue: Queue) -> None:
    job = queue.claimed(timeout=LEASE)
    job.lease.start()
    with time_limits(), watched(), time_limit(job.lease):
        if (child := os.fork()) == 0:
            with time_limit(job.lease):
                os._exit(0 if signal.getitimer(signal.ITIMER_REAL)[0] > 0 else 1)

    assert os.waitpid(child, 0)[1] == 0
