"""Access: what the database login may do."""

from minutehand.database import Executor, sync_or_async


@sync_or_async
async def may_change(executor: Executor) -> bool:
    """Return whether the login may change jobs. A member of minutehand_reader alone may not."""
    allowed: bool = (await executor.run("may_change"))[0]["may"]
    return allowed
