"""A tenant with 99 % of a million due jobs: the others get their shares, and a single job starts in two ticks."""

from collections import Counter
from contextlib import closing
from datetime import timedelta

import pytest

from minutehand import enqueue
from minutehand.database import Database
from minutehand.offer import offer
from tests import servers
from tests.queue.share_error import share_error

pytestmark = [pytest.mark.every_version, pytest.mark.plans]

CAPACITY, TICKS = 100, 8
# One job in a hundred is of one of nine others.
DUE = """
insert into minutehand.jobs_live (kind, tenant, run_at, visible)
select 'echo', case when n % 100 = 0 then 't' || n / 100 % 9 else 'loud' end, moment, moment
  from (select n, now() - n * interval '1 ms' as moment from generate_series(1, 1000000) n) made
"""
END = "delete from minutehand.jobs_live where id = any (%s) returning tenant"


def test_tenant_with_99_percent_of_a_million_jobs_does_not_delay_others(
    fresh_database: servers.Database,
) -> None:
    with closing(Database(fresh_database.admin_url)) as database:
        connection = database.connection
        connection.execute("alter table minutehand.jobs_live disable trigger user")
        connection.execute(DUE)
        connection.execute("alter table minutehand.jobs_live enable trigger user")
        connection.execute(
            "insert into minutehand.lanes (queue, priority, shared) values ('default', 5, true)"
        )
        connection.execute("insert into minutehand.shares (turn, weight) values ('loud', 3), ('t1', 2)")
        connection.execute("vacuum analyze minutehand.jobs_live")

        def tick() -> Counter[str]:
            ids = [each.id for each in offer(database, CAPACITY, timedelta(minutes=2)).offers]
            return Counter(row[0] for row in connection.execute(END, [ids]))

        offered = sum((tick() for _ in range(TICKS)), Counter[str]())
        weights = {f"t{n}": 1 for n in range(9)} | {"loud": 3, "t1": 2}
        assert share_error(offered, weights) <= 0.05
        enqueue("echo", tenant="single", connection=database)
        assert "single" in tick() + tick()
