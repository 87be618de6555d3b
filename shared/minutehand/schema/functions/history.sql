-- History: counting the jobs of a time, and adding up what was counted.

-- Returns the class of a duration: each begins at 1.41 times the beginning of the one before, from a millisecond on. So a
-- percentile is right within a fifth. Class 0 is shorter, class 60 longer than 12 days. In double precision, since a
-- logarithm of numeric takes 30 times as long.
create or replace function minutehand.duration_class(seconds double precision) returns smallint
language sql immutable parallel safe
as $$
    select case when seconds <= 0.001 then 0 else least(60, 1 + floor(2 * ln(seconds * 1000) / ln(2::double precision)))::smallint end
$$;

-- Returns the smallest id that a job of a time can have: ids begin with the milliseconds. Without `at time zone`, the number of
-- seconds would depend on the session for the planner, which then could not make this a part of the statement.
create or replace function minutehand.first_id(moment timestamptz) returns uuid
language sql immutable parallel safe
as $$
    select encode(substr(int8send((extract(epoch from moment at time zone 'UTC') * 1000)::bigint << 16), 1, 6) || '\x70008000000000000000'::bytea, 'hex')::uuid
$$;

-- Counts the jobs that were enqueued and that ended in a time, by queue and by steps of seconds: whole multiples, as the history's.
-- A job is counted as enqueued by the time in its id.
create or replace function minutehand.count_history(since timestamptz, until timestamptz, step integer)
returns table (start timestamptz, queue minutehand.queue, enqueued bigint, done bigint, dead bigint, expired bigint, cancelled bigint,
               wait_classes smallint[], wait_jobs bigint[], run_classes smallint[], run_jobs bigint[])
language sql stable
as $$
    with moved as materialized (
        select j.queue, j.enqueued as moment, 'enqueued' as what, null::smallint as wait, null::smallint as run
          from minutehand.jobs j
         where j.deleted is null and j.id >= minutehand.first_id(since) and j.id < minutehand.first_id(until)
         union all
        select j.queue, j.enqueued, 'enqueued', null, null
          from minutehand.jobs j
         where j.deleted is not null and j.deleted >= since
           and j.id >= minutehand.first_id(since) and j.id < minutehand.first_id(until)
         union all
        select j.queue, j.deleted, minutehand.state(j),
               case when j.attempts = 1 and isfinite(j.claimed) then minutehand.duration_class(extract(epoch from j.claimed - j.run_at)) end,
               case when j.attempts > 0 and isfinite(j.claimed) and not j.cancelled
                    then minutehand.duration_class(extract(epoch from j.deleted - j.claimed)) end
          from minutehand.jobs j
         where j.deleted is not null and j.deleted >= since and j.deleted < until
    ), grouped as materialized (
        select date_bin(make_interval(secs => step), least(greatest(m.moment, since), until - interval '1 microsecond'),
                        '2000-01-01 00:00+00') as start,
               m.queue, m.what, m.wait, m.run, count(*) as jobs
          from moved m
         group by 1, 2, 3, 4, 5
    ), classes as (
        select c.start, c.queue, array_agg(c.class order by c.class) filter (where c.waited) as wait_classes,
               array_agg(c.jobs order by c.class) filter (where c.waited) as wait_jobs,
               array_agg(c.class order by c.class) filter (where not c.waited) as run_classes,
               array_agg(c.jobs order by c.class) filter (where not c.waited) as run_jobs
          from (select g.start, g.queue, true as waited, g.wait as class, sum(g.jobs)::bigint as jobs
                  from grouped g where g.wait is not null group by 1, 2, 4
                 union all
                select g.start, g.queue, false, g.run, sum(g.jobs)::bigint from grouped g where g.run is not null group by 1, 2, 4) c
         group by 1, 2
    ), counts as (
        select g.start, g.queue,
               coalesce(sum(g.jobs) filter (where g.what = 'enqueued'), 0)::bigint as enqueued,
               coalesce(sum(g.jobs) filter (where g.what = 'done'), 0)::bigint as done,
               coalesce(sum(g.jobs) filter (where g.what = 'dead'), 0)::bigint as dead,
               coalesce(sum(g.jobs) filter (where g.what = 'expired'), 0)::bigint as expired,
               coalesce(sum(g.jobs) filter (where g.what = 'cancelled'), 0)::bigint as cancelled
          from grouped g
         group by 1, 2
    )
    select c.start, c.queue, c.enqueued, c.done, c.dead, c.expired, c.cancelled,
           coalesce(d.wait_classes, '{}'), coalesce(d.wait_jobs, '{}'), coalesce(d.run_classes, '{}'), coalesce(d.run_jobs, '{}')
      from counts c
      left join classes d using (start, queue)
$$;

-- Adds a longer step to the history: the sums of its minutes.
create or replace function minutehand.add_up_minutes(first timestamptz, seconds integer) returns void
language sql volatile security definer set search_path = minutehand, pg_temp
as $$
    with minutes as materialized (
        select * from minutehand.history h where h.step = 60 and h.start >= first and h.start < first + make_interval(secs => seconds)
    ), classes as (
        select c.queue, array_agg(c.class order by c.class) filter (where c.waited) as wait_classes,
               array_agg(c.jobs order by c.class) filter (where c.waited) as wait_jobs,
               array_agg(c.class order by c.class) filter (where not c.waited) as run_classes,
               array_agg(c.jobs order by c.class) filter (where not c.waited) as run_jobs
          from (select m.queue, true as waited, u.class, sum(u.jobs)::bigint as jobs
                  from minutes m, unnest(m.wait_classes, m.wait_jobs) u (class, jobs) group by 1, 3
                 union all
                select m.queue, false, u.class, sum(u.jobs)::bigint
                  from minutes m, unnest(m.run_classes, m.run_jobs) u (class, jobs) group by 1, 3) c
         group by 1
    ), sums as (
        select m.queue, sum(m.enqueued)::bigint as enqueued, sum(m.done)::bigint as done, sum(m.dead)::bigint as dead,
               sum(m.expired)::bigint as expired, sum(m.cancelled)::bigint as cancelled
          from minutes m
         group by 1
    )
    insert into minutehand.history (step, start, queue, enqueued, done, dead, expired, cancelled, wait_classes, wait_jobs, run_classes, run_jobs)
    select seconds, first, s.queue, s.enqueued, s.done, s.dead, s.expired, s.cancelled,
           coalesce(c.wait_classes, '{}'), coalesce(c.wait_jobs, '{}'), coalesce(c.run_classes, '{}'), coalesce(c.run_jobs, '{}')
      from sums s
      left join classes c using (queue)
        on conflict do nothing
$$;

-- Whether more than a number of jobs were enqueued or ended in a time.
create or replace function minutehand.has_more_jobs(since timestamptz, until timestamptz, most integer) returns boolean
language sql stable
as $$
    select count(*) > most
      from (select from minutehand.jobs j
             where j.deleted is null and j.id >= minutehand.first_id(since) and j.id < minutehand.first_id(until)
             union all
            select from minutehand.jobs j where j.deleted is not null and j.deleted >= since and j.deleted < until
             limit most::bigint + 1) jobs
$$;

-- Counts the minutes that are over, for at most half a second: ten at a time, or if they have many jobs, one. Their jobs are final: all
-- transactions that had begun to write have ended, or the minute has been over for ten. Of several concurrent ticks, one counts.
-- A minute with so many jobs that the tick would not end in time is not counted, because no later tick would get further.
create or replace function minutehand.count_minutes(now timestamptz default null) returns void
language plpgsql volatile security definer set search_path = minutehand, pg_temp
as $$
declare
    clock timestamptz := coalesce(now, clock_timestamp());
    since timestamptz;
    last  timestamptz;
    over  timestamptz;
    step  integer;
begin
    -- After a longer pause, nothing before it is on a chart.
    select greatest(c.until, date_trunc('hour', clock) - interval '8 days') into since
      from minutehand.history_counted c for update skip locked;
    select date_trunc('minute', greatest(least(d.settled, clock), clock - interval '10 minutes')) into over from minutehand.dispatcher d;
    -- The clock was set back: otherwise nothing would be counted until it is there again.
    if since > clock + interval '10 minutes' and minutehand.tenant_scope() = '' then
        delete from minutehand.history h where h.start + make_interval(secs => h.step) > over;
        update minutehand.history_counted c set until = over;
    end if;
    while since < over and minutehand.tenant_scope() = '' and clock_timestamp() < statement_timestamp() + interval '0.5 s' loop
        last := least(over, since + interval '10 minutes');
        if minutehand.has_more_jobs(since, last, minutehand.scan_rows('history')) then
            last := since + interval '1 minute';
        end if;
        if minutehand.has_more_jobs(since, last, minutehand.scan_rows('minute')) then
            raise warning 'the history has no figures from % to %: too many jobs', since, last;
        else
            insert into minutehand.history (step, start, queue, enqueued, done, dead, expired, cancelled,
                                            wait_classes, wait_jobs, run_classes, run_jobs)
            select 60, c.* from minutehand.count_history(since, last, 60) c on conflict do nothing;
        end if;
        -- Ten minutes end at most one longer step of each length.
        foreach step in array '{900,3600}'::integer[] loop
            if date_bin(make_interval(secs => step), last, '2000-01-01 00:00+00') > since then
                perform minutehand.add_up_minutes(
                    date_bin(make_interval(secs => step), last, '2000-01-01 00:00+00') - make_interval(secs => step), step);
            end if;
        end loop;
        since := last;
        update minutehand.history_counted c set until = last;
    end loop;
end
$$;

-- Deletes the minutes of the history after three hours and after their hour was added up, the quarters after two days and the hours after 90 days.
create or replace function minutehand.prune_history(now timestamptz default null) returns void
language sql volatile security definer set search_path = minutehand, pg_temp
as $$
    delete from minutehand.history
     where (step, start, queue) in (
           select h.step, h.start, h.queue
             from (values (60, interval '3 hours'), (900, interval '2 days'), (3600, interval '90 days')) kept (step, age)
             join minutehand.history h on h.step = kept.step and h.start < coalesce(now, clock_timestamp()) - kept.age
                                            and (h.step > 60 or h.start < (select date_trunc('hour', c.until) from minutehand.history_counted c))
            limit 10000)
       and minutehand.tenant_scope() = ''
$$;
