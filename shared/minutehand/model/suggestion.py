"""Suggestion: the name that someone probably meant."""

from collections.abc import Iterable


def closest(name: str, known: Iterable[str]) -> str | None:
    """Return the known name that is most similar, or None if none is similar."""
    # Imported only when used, since it is for errors.
    from difflib import get_close_matches

    return next(iter(get_close_matches(name, list(known), 1)), None)


def suggestion(name: str, known: Iterable[str]) -> str:
    """Return the end of a message, such as "; did you mean 'welcome'?", or nothing."""
    close = closest(name, known)
    return f"; did you mean {close!r}?" if close else ""
