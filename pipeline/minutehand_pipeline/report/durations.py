"""How long jobs waited and attempts ran: percentiles over all, by queue and by kind."""

import pandas as pd

from minutehand_pipeline.report.buckets import percentiles


def durations(histograms: pd.DataFrame) -> pd.DataFrame:
    """Return waits and run times: of all jobs, of each queue, and of each kind in a queue.

    A null queue stands for all queues, a null kind for all kinds.
    """
    return percentiles(rolled_up(histograms), ["what", "queue", "kind"])


def rolled_up(frame: pd.DataFrame) -> pd.DataFrame:
    """Return rows of queues and kinds three times: as they are, of all kinds, and of all queues."""
    of_queues = frame.assign(kind=None)
    return pd.concat([frame, of_queues, of_queues.assign(queue=None)])
