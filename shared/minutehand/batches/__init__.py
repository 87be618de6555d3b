"""Batches: jobs that belong together, and the job that is enqueued when the last of them ends.

Modeled on the batches of Sidekiq, Oban and GoodJob. The counts are exact: see schema/functions/batch_counts.sql.
"""

from minutehand.batches.block import AsyncBatch, Batch, batch
from minutehand.batches.lifecycle import close_batch, open_batch

__all__ = ["AsyncBatch", "Batch", "batch", "close_batch", "open_batch"]
