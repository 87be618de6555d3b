"""Paging: list everything, a page at a time."""

from collections.abc import Callable, Iterator, Sequence
from typing import Any, TypeVar

Item = TypeVar("Item")


def all_pages(
    read: Callable[..., Sequence[Item]], place: Callable[[Item], Any] = lambda item: item
) -> Iterator[Item]:
    """Yield the items of all pages; `read` takes the place of the last item as `after`."""
    after = None
    while page := read(after=after):
        yield from page
        after = place(page[-1])
