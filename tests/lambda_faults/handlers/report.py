"""Wait for a service that never answers."""

import time


def handle() -> None:
    time.sleep(3600)
