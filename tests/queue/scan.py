"""A selection that reads few rows at a time, so that a test needs few jobs to have many of them in front of others."""

from tests.queue.stage import Queue

HEAD, NEWEST, STEP, SWEEP = 6, 3, 4, 16
SMALL = """
create or replace function minutehand.scan_rows(of text) returns integer
language sql immutable parallel safe
as $$
    select case of when 'head' then 6 when 'part' then 3 when 'newest' then 3 when 'newest streams' then 20
                   when 'sweep' then 16 when 'sweep parts' then 16 when 'step' then 4 when 'listed' then 9
                   when 'closed' then 4 when 'blocked' then 5 when 'groups' then 2000
                   when 'history' then 6 when 'minute' then 12 end
$$"""
FILL = """
insert into minutehand.jobs_live (queue, kind, tenant, key, run_at, visible)
select 'mail', %(kind)s, %(tenant)s, case when %(key)s::text is not null then %(key)s || '-' || n end, moment, moment
  from (select n, latest + %(spread)s::integer * n * interval '1 ms' as moment
          from (select greatest(now() - interval '1 hour', max(visible)) as latest
                  from minutehand.jobs_live where visible <= now()) existing,
               generate_series(1, %(count)s) n) made
"""


def read_few_rows(queue: Queue) -> None:
    """Replace the numbers of rows by those above. The database has another schema then, so it is not used again."""
    queue.sql(SMALL)


def fill(
    queue: Queue,
    count: int,
    *,
    kind: str = "slow",
    tenant: str = "",
    key: str | None = None,
    spread: bool = True,
) -> None:
    """Enqueue jobs that have been due for an hour, all at one moment or a millisecond apart, after all others."""
    queue.sql(FILL, count=count, kind=kind, tenant=tenant, key=key, spread=spread)
