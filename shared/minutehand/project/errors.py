"""Errors of projects; each message says what to do."""

from minutehand.errors import MinutehandError


class ProjectError(MinutehandError):
    """A project cannot be created, changed or read; the message says what to do."""
