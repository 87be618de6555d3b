"""Streams: whether a person reads the output on a terminal, or a program reads it from a pipe."""

import sys
from typing import TextIO


def is_terminal() -> bool:
    """Whether the output goes to a terminal."""
    return leads_to_terminal(sys.stdout)


def leads_to_terminal(stream: TextIO | None) -> bool:
    """Whether a stream is a terminal; it is None if the caller has closed it."""
    return stream is not None and stream.isatty()
