"""Group small days, so that one Spark job copies all of them."""

from collections.abc import Iterable, Iterator

from minutehand_pipeline.archive.closing import Day
from minutehand_pipeline.archive.decision import Action, Decision

# A group takes little more time than a day of this many rows, so its snapshot is held for no longer.
MAX_ROWS = 200_000
# A task has one open file per day.
MAX_DAYS = 31

Decided = tuple[Day, Decision]


def group_days(decided: Iterable[Decided]) -> Iterator[list[Decided]]:
    """Yield days that are copied together: neighbors that are archived, up to a limit. Any other day is alone."""
    group: list[Decided] = []
    for each in decided:
        if group and not _fits(group, each):
            yield group
            group = []
        group.append(each)
    if group:
        yield group


def _fits(group: list[Decided], added: Decided) -> bool:
    decisions = [decision for _, decision in (*group, added)]
    return (
        len(decisions) <= MAX_DAYS
        and all(each.action is Action.ARCHIVE for each in decisions)
        and sum(each.present for each in decisions) <= MAX_ROWS
    )
