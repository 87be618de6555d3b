-- Slots: a worker of the stack goes on with the slots that its own jobs have freed.

-- Returns how many of these slots the worker still has; `freed` has the times at which its jobs ended. Until the transaction
-- ends, no tick counts. The slots that were freed before the latest count have been given away with it.
--
-- A worker does what the next tick would do with the slot: it takes nothing if the queue's budget is used up, or if the
-- capacity is in use and jobs of another queue, which has fewer slots, are due.
create or replace function minutehand.free_slots(of_queue text, freed timestamptz[]) returns integer
language plpgsql volatile security definer set search_path = minutehand, pg_temp
as $$
declare
    slots integer;
    state minutehand.dispatcher;
begin
    if not minutehand.sees_commits() then
        -- Raises SQLSTATE 40001 if a tick has counted since the snapshot; the change does so in a tick with an older one. In the order of
        -- a tick, so that none is a deadlock.
        perform from minutehand.dispatcher for share;
        update minutehand.take_locks l set number = l.number where l.number = pg_backend_pid() % 16;
    else
        perform from minutehand.take_locks l where l.number = pg_backend_pid() % 16 for no key update;
    end if;
    -- In a new snapshot, after the lock.
    select * into state from minutehand.dispatcher;
    select count(*) into slots from unnest(freed) each where each > state.counted;
    if slots > 0 and (state.is_full or exists (select from minutehand.budgets b where b.queue = of_queue)) then
        slots := greatest(0, least(slots, minutehand.slots_left(of_queue, state, clock_timestamp())));
    end if;
    return slots;
end
$$;

-- Returns how many more jobs of a queue may run, by its budget and by its share of a capacity that is in use.
create or replace function minutehand.slots_left(of_queue text, state minutehand.dispatcher, moment timestamptz) returns integer
language sql volatile
as $$
    with busy as materialized (
        select queue, count(*)::integer as jobs
          from (select j.queue::text
                  from minutehand.jobs_live j
                 where coalesce(j.offered, j.claimed) is not null and coalesce(j.claimed, j.offered) >= state.busy_since
                   and j.visible > moment
                 order by coalesce(j.claimed, j.offered)
                 limit state.capacity) j
         group by queue
    ), own as (
        select coalesce((select jobs from busy where queue = of_queue), 0) as jobs
    ), waiting as (
        select l.queue
          from (select distinct queue from minutehand.due_lanes(moment) where state.is_full and queue <> of_queue) l
          left join busy using (queue)
         where coalesce(busy.jobs, 0) < (select jobs from own)
           and exists (select from minutehand.next_due(l.queue, 1, moment))
           and not exists (select from minutehand.controls c
                            where c.queue in ('', l.queue) and c.tenant = '' and c.kind = '' and c.key = '' and c.group = '' and c.per = ''
                              and (c.paused and (c.until is null or c.until > moment) or c.max_running <= coalesce(busy.jobs, 0)))
    )
    select least((select minutehand.budget_at(b.budget, b.lapsed, moment) from minutehand.budgets b where b.queue = of_queue),
                 case when exists (select from waiting) then greatest(1, state.capacity / (1 + (select count(*) from waiting))) end,
                 state.capacity) - own.jobs
      from own
$$;

-- Returns the first due jobs of a queue that may start, up to a number, and locks none.
create or replace function minutehand.next_due(of_queue text, most bigint, moment timestamptz)
returns table (id uuid, priority integer, visible timestamptz, kind text, timeout interval, alone boolean)
language sql stable rows 20
as $$
    select j.id, l.priority, j.visible, j.kind, j.timeout, j.alone
      from minutehand.due_lanes(moment) l
     cross join lateral (
           select j.id, j.visible, j.kind::text, j.timeout::interval, coalesce(j.claimed, j.lapsed) is not null as alone
             from minutehand.jobs_live j
            where j.queue = l.queue and j.priority = l.priority and j.visible >= l.floor and j.visible <= moment
              and minutehand.may_start(j.attempts, j.max_attempts, j.cancelling, j.run_at, j.expires, moment)
            order by j.visible
            limit most) j
     where l.queue = of_queue and most > 0
     order by j.visible - l.priority * (select priority_step from minutehand.settings)
     limit most
$$;

-- Returns the budget of a queue at a time, from the stored one and the time of the latest lapse. Ten minutes after that it
-- grows again, by 1, 2, 4 and so on a minute.
create or replace function minutehand.budget_at(budget integer, lapsed timestamptz, moment timestamptz) returns integer
language sql immutable parallel safe
as $$
    select (case when age between 0 and 9 then budget when age > 9 then budget + 2 ^ least(age - 9, 20) - 1 end)::integer
      from (select floor(extract(epoch from moment - lapsed) / 60) as age) a
$$;

-- Whether a job suits a worker: the worker serves its kind, and the time left is enough for it. The time needed is the job's
-- timeout, or else that of the kind in this invocation or in others. `only` has the three of the worker:
--
--   kinds       pairs of a regular expression and whether the worker serves such kinds; the first match applies
--   seconds     how long the longest attempt at each kind took
--   otherwise   the seconds for a kind that has not been measured
create or replace function minutehand.suits("only" jsonb, kind text, timeout interval, lease interval) returns boolean
language sql stable
as $$
    select coalesce(timeout, coalesce(("only" -> 'seconds' ->> suits.kind)::float8,
                                      (select t.seconds from minutehand.kind_times t where t.kind = suits.kind),
                                      ("only" ->> 'otherwise')::float8) * interval '1 second') <= lease
           and coalesce((select (k.pair ->> 1)::boolean
                           from jsonb_array_elements("only" -> 'kinds') with ordinality k (pair, place)
                          where suits.kind ~ (k.pair ->> 0)
                          order by k.place
                          limit 1), true)
$$;
