"""The worker's entry point: Lambda calls `app.handler`, which runs the kinds in `handlers/`."""

from minutehand.functions.worker import handler

__all__ = ["handler"]
