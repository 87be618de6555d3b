"""The types of functions that take a connection of either sort; only type checkers import this module."""

from collections.abc import AsyncIterator, Coroutine, Iterator
from typing import Any, ParamSpec, Protocol, TypeVar, overload

from minutehand.database.connectable import AsyncConnectable, Connectable

P = ParamSpec("P")
Result_co = TypeVar("Result_co", covariant=True)


class SyncOrAsync(Protocol[P, Result_co]):
    """A function whose first argument decides whether it returns its result or a coroutine."""

    @overload
    def __call__(self, database: Connectable | None, /, *args: P.args, **kwargs: P.kwargs) -> Result_co: ...
    @overload
    def __call__(
        self, database: AsyncConnectable, /, *args: P.args, **kwargs: P.kwargs
    ) -> Coroutine[Any, Any, Result_co]: ...


class SyncOrAsyncIterator(Protocol[P, Result_co]):
    """A function whose first argument decides whether it returns an iterator or an async iterator."""

    @overload
    def __call__(
        self, database: Connectable | None, /, *args: P.args, **kwargs: P.kwargs
    ) -> Iterator[Result_co]: ...
    @overload
    def __call__(
        self, database: AsyncConnectable, /, *args: P.args, **kwargs: P.kwargs
    ) -> AsyncIterator[Result_co]: ...
