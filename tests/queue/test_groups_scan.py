"""The scan of groups: a group is found behind any number of others that have no job to start."""

from tests.queue.stage import Queue

AHEAD = """
insert into minutehand.jobs_live (kind, "group", run_at, visible)
select 'echo', 'g' || to_char(n, 'FM00000'), moment, moment
  from (select n, now() + interval '1 day' as moment from generate_series(1, %(count)s) n) made"""


def test_group_behind_the_scans_of_two_ticks_is_found(queue: Queue) -> None:
    queue.sql(AHEAD, count=5000)
    queue.enqueue(group="z")

    assert [len(queue.offer()) for _ in range(3)] == [0, 0, 1]
