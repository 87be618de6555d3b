"""The lake: Delta tables written with delta-rs. Each commit carries a batch number, and no number commits twice."""

from minutehand_pipeline.lake.delta import DAYS_AT_ONCE, PARTITION, DataFile
from minutehand_pipeline.lake.lake import Lake
from minutehand_pipeline.lake.table import Table

__all__ = ["DAYS_AT_ONCE", "PARTITION", "DataFile", "Lake", "Table"]
