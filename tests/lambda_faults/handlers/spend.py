"""Take as many seconds as the payload says."""

import time


def handle(seconds: float) -> None:
    time.sleep(seconds)
