"""Logged: what a part of the library logs instead of raising it, for a command that reports it as its own result."""

import logging
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def logged(name: str) -> Iterator[list[str]]:
    """Collect the warnings and errors of a logger and of those below it in this block; they are not printed."""
    messages: list[str] = []
    logger, collector = logging.getLogger(name), _Collector(messages)
    before, logger.propagate = logger.propagate, False
    logger.addHandler(collector)
    try:
        yield messages
    finally:
        logger.removeHandler(collector)
        logger.propagate = before


class _Collector(logging.Handler):
    def __init__(self, messages: list[str]) -> None:
        super().__init__(logging.WARNING)
        self._messages = messages

    def emit(self, record: logging.LogRecord) -> None:
        self._messages.append(record.getMessage())
