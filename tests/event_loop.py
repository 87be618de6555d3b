"""Run coroutines in tests."""

import asyncio
from collections.abc import Coroutine
from typing import Any


def run_in_loop(coroutine: Coroutine[Any, Any, Any]) -> Any:
    """Run a coroutine without asyncio.run, which drops the current loop, such as Mangum's, without closing it."""
    loop = asyncio.new_event_loop()
    try:
        return loop.run_until_complete(coroutine)
    finally:
        loop.run_until_complete(loop.shutdown_asyncgens())
        loop.close()
