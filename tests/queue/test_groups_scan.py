"""The scan of groups: a group is found behind any number of others that have no job to start."""

from datetime import timedelta
from random import Random
from typing import Any, LiteralString

import pytest

from tests.queue.scan import read_few_rows
from tests.queue.stage import Queue

HOUR = timedelta(hours=1)
AHEAD: LiteralString = """
insert into minutehand.jobs_live (kind, "group", run_at, visible)
select 'echo', 'g' || to_char(n, 'FM00000'), moment, moment
  from (select n, now() + interval '1 day' as moment from generate_series(1, %(count)s) n) made"""
# More due jobs than the groups of a lane are read from.
MANY_OF_ONE: LiteralString = """
insert into minutehand.jobs_live (kind, "group", run_at, visible)
select 'echo', 'a', moment, moment
  from (select now() - interval '1 hour' as moment from generate_series(1, 1100) n) made"""
GROUPS: LiteralString = """
select g.tenant, g."group"
  from minutehand.stream_groups(row('default', 5, '-infinity', true, '', 1000, 100, false)::minutehand.stream,
                                %(tenant)s, %(group)s, now(), 2000) g
 where g.visible <= now()
 order by g.step"""


def test_group_behind_many_groups_that_are_not_due_is_found_at_once(queue: Queue) -> None:
    queue.sql(AHEAD, count=5000)
    queue.enqueue(group="z")

    assert [len(queue.offer()) for _ in range(2)] == [1, 0]


def test_group_behind_the_scans_of_two_ticks_is_found(queue: Queue) -> None:
    queue.sql(MANY_OF_ONE)
    queue.enqueue()
    assert len(queue.offer()) == 2
    queue.sql(AHEAD, count=5000)
    queue.enqueue(group="z")

    assert [len(queue.offer()) for _ in range(3)] == [0, 0, 1]


@pytest.mark.fault(
    "functions/group_scans", r"<= \(at_tenant, at_group\), d.tenant", "> (at_tenant, at_group), d.tenant"
)
@pytest.mark.fault("functions/group_scans", "d.group is not null and", "")
def test_groups_of_few_due_jobs_are_those_of_the_index_in_the_same_order(queue: Queue) -> None:
    random = Random(13)
    for _ in range(40):
        group, tenant = random.choice((None, *"abcdefgh")), random.choice(("", "t", "u"))
        queue.enqueue(group=group, tenant=tenant, delay=random.choice((None, None, HOUR)))
    queue.take(3)
    positions = [("", ""), ("", "c"), ("t", "d"), ("u", "h"), ("v", "a")]

    few = [found(queue, *each) for each in positions]
    read_few_rows(queue)

    assert [found(queue, *each) for each in positions] == few
    assert len(few[0]) > 10


def found(queue: Queue, tenant: str, group: str) -> list[tuple[Any, ...]]:
    """Return the groups with due jobs in the order of a scan that begins behind a group."""
    return [tuple(row.values()) for row in queue.sql(GROUPS, tenant=tenant, group=group)]
