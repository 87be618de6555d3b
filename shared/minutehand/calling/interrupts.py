"""Interrupts: how a worker's signal handler interrupts the handlers that run."""

import signal
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from threading import current_thread, main_thread
from typing import Any

from minutehand.model.outcome import Interrupted

_receivers: list[Callable[[], None]] = []


def interrupt() -> None:
    """Raise Interrupted in the handler that runs alone, or notify the event loop of those that run together."""
    if not _receivers:
        raise Interrupted
    _receivers[-1]()


@contextmanager
def received_by(receiver: Callable[[], None]) -> Iterator[None]:
    """Call the receiver for interrupts in this block. It is called by a signal handler."""
    _receivers.append(receiver)
    try:
        yield
    finally:
        _receivers.remove(receiver)


def deferred() -> AbstractContextManager[None]:
    """Let an interrupt wait for the end of this block. Only code of the main thread is interrupted."""
    return _Deferred() if current_thread() is main_thread() else nullcontext()


class _Deferred:
    # Faster than a generator, and entered for each group of outcomes.
    def __init__(self) -> None:
        self._interrupted = False

    def __enter__(self) -> None:
        _receivers.append(self._note)

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        _receivers.remove(self._note)
        if self._interrupted and kind is None:
            interrupt()

    def _note(self) -> None:
        self._interrupted = True


@contextmanager
def noticed_by(loop: Any) -> Iterator[None]:
    """Let each signal wake the loop, so that its handler runs at once, whichever thread the system interrupts."""
    # Imported only when used, for the sake of cold starts.
    import socket

    read, write = socket.socketpair()
    with read, write:
        for end in (read, write):
            end.setblocking(False)
        loop.add_reader(read, read.recv, 4096)
        former = signal.set_wakeup_fd(write.fileno(), warn_on_full_buffer=False)
        try:
            yield
        finally:
            signal.set_wakeup_fd(former)
            loop.remove_reader(read)
