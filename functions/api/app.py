"""The API's entry point: Lambda calls `app.handler`, a local run serves `app.app`."""

from minutehand.functions.api.app import app, handler

__all__ = ["app", "handler"]
