"""Redact errors: replace an error by an id, under which only the log has its details."""

import logging
import os
from uuid import uuid4

logger = logging.getLogger(__name__)


class UnknownError(Exception):
    """Replaces an error whose details only the log has."""


def redacts_errors() -> bool:
    """Return whether MINUTEHAND_REDACT_ERRORS is set."""
    return os.environ.get("MINUTEHAND_REDACT_ERRORS", "0") not in ("", "0")


def redact(error: BaseException) -> UnknownError:
    """Log an error under a new id, and return an error that contains only that id."""
    id = uuid4()
    logger.error("unknown error: %s", id, exc_info=error)
    return UnknownError(f"Unknown error: {id}")
