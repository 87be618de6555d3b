"""Ignore interrupts in the first attempt."""

import time
from contextlib import suppress

from minutehand import Job


def handle(_: object, job: Job) -> int:
    while job.attempt == 1:
        with suppress(BaseException):
            time.sleep(60)
    return job.attempt
