"""Event loop: run the coroutine of an async handler to its end.

Attempts in the main thread share one loop, so that connections of async clients stay usable from one attempt to the
next. It is replaced after an interrupt, which may leave it inconsistent, and if a task does not end.
"""

import asyncio
import atexit
import logging
import os
from collections.abc import Callable, Coroutine
from concurrent.futures import Future, wait
from contextlib import suppress
from contextvars import copy_context
from functools import partial
from threading import Thread, current_thread, main_thread
from typing import Any

from minutehand.model.outcome import OutOfTime

# The time for tasks that were cancelled to clean up. It is taken from the time that is reserved for the outcome.
CLEANUP_SECONDS = 0.25

logger = logging.getLogger(__name__)


def run(coroutine: Coroutine[Any, Any, Any]) -> Any:
    """Run a coroutine to its end and return its result; cancel the tasks that it leaves, also after an interrupt.

    If a loop runs in this thread already, such as that of an async test, the coroutine runs in a thread of its own.
    """
    return _run_anywhere(coroutine, None)


def drive(coroutine: Coroutine[Any, Any, Any], interrupt: Callable[[], None]) -> Any:
    """Run a coroutine to its end like `run`, and go on after interrupts, for which it is notified in the loop.

    OutOfTime and SystemExit, which end a task of one job, do not concern the others. After an interrupt the coroutine
    should end soon; a second one ends it at once.
    """
    return _run_anywhere(coroutine, interrupt)


def _run_anywhere(coroutine: Coroutine[Any, Any, Any], interrupt: Callable[[], None] | None) -> Any:
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return _run_here(coroutine, interrupt)
    return _run_in_thread(coroutine, interrupt)


def _run_here(coroutine: Coroutine[Any, Any, Any], interrupt: Callable[[], None] | None) -> Any:
    if current_thread() is main_thread():
        return _run_on(_main_loop.open(), coroutine, interrupt)
    loop = asyncio.new_event_loop()
    try:
        return _run_on(loop, coroutine, interrupt)
    finally:
        _close(loop)


def _run_in_thread(coroutine: Coroutine[Any, Any, Any], interrupt: Callable[[], None] | None) -> Any:
    """Run a coroutine in a new thread, and wait for it. An interrupt of the wait reaches the coroutine, too."""
    loop = asyncio.new_event_loop()
    result: Future[Any] = Future()

    def work() -> None:
        try:
            result.set_result(_run_on(loop, coroutine, interrupt))
        except BaseException as error:
            result.set_exception(error)
        finally:
            _close(loop)

    Thread(target=copy_context().run, args=[work], daemon=True).start()
    try:
        return result.result()
    except BaseException:
        if not result.done():
            with suppress(RuntimeError):
                loop.call_soon_threadsafe(interrupt or partial(_cancel_all, loop))
            wait([result], timeout=2 * CLEANUP_SECONDS)
        raise


def _run_on(
    loop: asyncio.AbstractEventLoop,
    coroutine: Coroutine[Any, Any, Any],
    interrupt: Callable[[], None] | None,
) -> Any:
    task = loop.create_task(coroutine)
    try:
        return _until_done(loop, task, interrupt) if interrupt else loop.run_until_complete(task)
    except (KeyboardInterrupt, SystemExit):
        # Raised by a signal handler anywhere, or by the coroutine, whose task then holds it as well.
        _end_tasks(loop)
        if task.done() and not task.cancelled():
            task.exception()
        _main_loop.forget(loop)
        loop.close()
        raise
    finally:
        if left := _end_tasks(loop):
            logger.warning("a handler left %d tasks running; they were cancelled: await them", left)
        if not loop.is_closed() and asyncio.all_tasks(loop):
            # They ignore that they were cancelled, and would delay all further attempts.
            _main_loop.forget(loop)
            loop.close()


def _until_done(
    loop: asyncio.AbstractEventLoop, task: asyncio.Task[Any], interrupt: Callable[[], None]
) -> Any:
    interrupts: list[BaseException] = []
    while True:
        try:
            result = loop.run_until_complete(task)
        except (KeyboardInterrupt, SystemExit) as error:
            if task.done() or interrupts:
                raise
            if not isinstance(error, (OutOfTime, SystemExit)):
                interrupts.append(error)
                interrupt()
        else:
            if interrupts:
                raise interrupts[0]
            return result


def _end_tasks(loop: asyncio.AbstractEventLoop) -> int:
    """Cancel the loop's tasks, wait a moment until they have ended, and return how many there were."""
    if loop.is_closed() or not (tasks := _cancel_all(loop)):
        return 0
    ended = loop.create_task(asyncio.wait(tasks, timeout=CLEANUP_SECONDS))
    # The loop raises an interrupt that a task ends with, and stops.
    while not ended.done():
        with suppress(KeyboardInterrupt, SystemExit):
            loop.run_until_complete(ended)
    return len(tasks)


def _cancel_all(loop: asyncio.AbstractEventLoop) -> set[asyncio.Task[Any]]:
    tasks = asyncio.all_tasks(loop)
    for task in tasks:
        task.cancel()
    return tasks


def _close(loop: asyncio.AbstractEventLoop) -> None:
    if not loop.is_closed():
        # A late request to cancel the handler's tasks cancels this one instead.
        with suppress(asyncio.CancelledError):
            loop.run_until_complete(loop.shutdown_asyncgens())
        loop.close()


class _MainLoop:
    """The loop of the main thread, which a forked process does not inherit."""

    def __init__(self) -> None:
        self._loop: asyncio.AbstractEventLoop | None = None
        self._process = 0

    def open(self) -> asyncio.AbstractEventLoop:
        if self._loop is None or self._process != os.getpid():
            self._loop, self._process = asyncio.new_event_loop(), os.getpid()
        return self._loop

    def forget(self, loop: asyncio.AbstractEventLoop) -> None:
        if loop is self._loop:
            self._loop = None

    def close(self) -> None:
        if self._loop is not None and self._process == os.getpid():
            self._loop.close()


_main_loop = _MainLoop()
atexit.register(_main_loop.close)
