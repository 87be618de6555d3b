-- Records how long a job of each kind takes on a worker, and the time of its invocations. A longer time counts at once, and
-- a shorter one by a fifth, so that few of them do not make chunks too large. Only one worker in ten seconds writes the row
-- of a kind, unless jobs have become slower by a fifth.
with measured as materialized (
    select m.kind, m.seconds
      from unnest(%(kinds)s::text[], %(seconds)s::float8[]) as m (kind, seconds)
     where not exists (select
                         from minutehand.kind_times t
                        where t.kind = m.kind and t.measured > clock_timestamp() - interval '10 seconds'
                          and t.seconds * 1.2 > m.seconds and t.invocation = %(invocation)s)
     order by m.kind
)
insert into minutehand.kind_times as t (kind, seconds, invocation, measured)
select kind, seconds, %(invocation)s, clock_timestamp() from measured
    on conflict (kind) do update
   set seconds = greatest(excluded.seconds, t.seconds + (excluded.seconds - t.seconds) / 5),
       invocation = excluded.invocation, measured = excluded.measured
