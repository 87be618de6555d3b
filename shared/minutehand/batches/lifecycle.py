"""Open and close batches."""

from uuid import UUID

from minutehand import waking
from minutehand.database import Executor, sync_or_async
from minutehand.kinds.check import check_callback
from minutehand.model.new_job import OPTIONS, NewJob, callback_json
from minutehand.settings import encrypts

Callback = NewJob | str


@sync_or_async
async def open_batch(
    executor: Executor,
    *,
    on_complete: Callback | None = None,
    on_failure: Callback | None = None,
    name: str | None = None,
    tenant: str | None = None,
    parent: UUID | None = None,
) -> UUID:
    """Open a batch and return its id; see `batch`. It ends only after `close_batch`."""
    (row,) = await executor.run(
        "open_batch",
        on_complete=_callback(on_complete, "on_complete"),
        on_failure=_callback(on_failure, "on_failure"),
        name=name,
        tenant=None if tenant is None else OPTIONS["tenant"].check(tenant, "tenant"),
        parent=parent,
    )
    batch_id: UUID = row["id"]
    return batch_id


@sync_or_async
async def close_batch(executor: Executor, batch_id: UUID) -> bool:
    """Close a batch: it ends with its last open job, or now if it has none. Return whether it was open."""
    async with waking.transaction(executor):
        closed: bool = (await executor.run("close_batch", id=batch_id))[0]["closed"]
        if closed:
            await waking.wake_ended(executor, [{"batch": batch_id}])
    return closed


def _callback(job: Callback | None, name: str) -> str | None:
    if job is None:
        return None
    text = callback_json(job, name)
    check_callback(job)
    if encrypts():
        # Imported only when used, for the sake of cold starts.
        from minutehand.encryption.envelope import refuse_clear_on_dead

        refuse_clear_on_dead(text)
    return text
