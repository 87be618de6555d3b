"""Redact errors: replace an error by an id, under which only the log has its details."""

import logging
from uuid import uuid4

logger = logging.getLogger(__name__)


class UnknownError(Exception):
    """Replaces an error whose details only the log has."""


def redact(error: BaseException) -> UnknownError:
    """Log an error under a new id, and return an error that contains only that id."""
    id = uuid4()
    logger.error("unknown error: %s", id, exc_info=error)
    return UnknownError(f"Unknown error: {id}")
