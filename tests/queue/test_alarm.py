"""The alarm that limits attempts, which a handler may use for something else."""

import signal

from minutehand.attempts.time_limit import time_limit, time_limits, watched
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
