"""How much an archive reads, roughly, to choose the settings of Spark before it starts."""

from contextlib import closing
from typing import TYPE_CHECKING

from minutehand.database import Database
from minutehand_pipeline.queue.location import url_getter
from minutehand_pipeline.queue.ranges import Selection, find_relations
from minutehand_pipeline.schemas import HOMES

if TYPE_CHECKING:
    from minutehand_pipeline.archive.archive import ArchiveConfig

# A page has more rows only if they are unusually short.
ROWS_PER_PAGE = 32


def estimate_rows(config: "ArchiveConfig") -> int:
    """Return about the most rows that the days of an archive have, from the sizes of their partitions.

    It includes days that were archived before and are still in the database.
    """
    with closing(Database(url_getter(config.location))) as database:
        selections = (Selection(HOMES[name], (), config.since, config.until) for name in config.homes)
        found = [each for selection in selections for each in find_relations(database.connection, selection)]
    return sum(pages for _, pages in found) * ROWS_PER_PAGE
