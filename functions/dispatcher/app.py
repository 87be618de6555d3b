"""The dispatcher's entry point: Lambda calls `app.handler`."""

from minutehand.functions.dispatcher import handler

__all__ = ["handler"]
