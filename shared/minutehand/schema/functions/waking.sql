-- Waking: offer jobs right after the commit that enqueued them, and find out whether the dispatcher must be invoked.

-- Offers those of the given jobs that are due, by the rules of a tick, and returns the offers. One row has `wake` if the
-- dispatcher must be invoked: some of the jobs, or of those that become due at `next`, wait for it, and it does not wait for
-- them. `others` says that more jobs are due than those given. Given jobs may become due only later, since the caller's clock may
-- be early.
--
-- It locks the dispatcher's row, like a tick, and so needs a transaction of its own, which ends at once. In any other it locks and
-- offers nothing, and the jobs wait for the dispatcher; as they do if another session has locked that row for a tenth of a second.
-- Nor does it for a login that is bound to a tenant: such a session might keep the transaction open, and so the ticks of all tenants
-- waiting.
create or replace function minutehand.offer_now(ids uuid[], next timestamptz, others boolean)
returns table (id uuid, ack uuid, queue text, kind text, tenant text, wake boolean)
language plpgsql volatile security definer set search_path = minutehand, pg_temp set lock_timeout = '100ms'
as $$
#variable_conflict use_column
declare
    scope    text := minutehand.current_tenant();
    due      uuid[];
    chosen   uuid[] := '{}';
    capacity integer;
    ttl      interval;
begin
    if minutehand.is_bound() or not minutehand.begins_transaction() then
        return query select null::uuid, null::uuid, null, null, null, true where not minutehand.has_waiter(coalesce(next, now()));
        return;
    end if;
    -- Ends a session that leaves the transaction open, and thereby its lock.
    perform set_config('idle_in_transaction_session_timeout', '2s', true);
    if current_setting('server_version_num')::integer >= 170000 then
        perform set_config('transaction_timeout', '10s', true);
    end if;
    begin
        if cardinality(ids) > 0 then
            select coalesce(d.capacity, 0), least(d.offer_ttl, interval '45 seconds') into capacity, ttl
              from minutehand.dispatcher d
               for update;
            -- As in start_tick.sql: workers give slots that they have freed to other jobs, until the busy jobs are counted.
            perform from minutehand.take_locks l order by l.number for no key update;
        end if;
        due := minutehand.due_of(ids, scope);
        next := least(next, minutehand.first_later(ids, scope));
        chosen := minutehand.choose_now(due, capacity);
    exception
        when lock_not_available then due := ids;
    end;
    return query
        update minutehand.jobs_live j
           set ack = gen_random_uuid(), prior = case when j.claimed is null then j.ack else coalesce(j.prior, j.ack) end,
               offered = clock_timestamp(), visible = clock_timestamp() + ttl
         where j.id = any (chosen)
        returning j.id, j.ack, j.queue::text, j.kind::text, j.tenant::text, false;
    if chosen <> '{}' then
        update minutehand.dispatcher d
           set counted = clock_timestamp(), is_full = d.capacity <= minutehand.count_busy(d.capacity);
    end if;
    if cardinality(chosen) < cardinality(due) or others then
        return query select null::uuid, null::uuid, null, null, null, true where minutehand.request_wait(clock_timestamp());
    elsif next is not null then
        return query select null::uuid, null::uuid, null, null, null, true where minutehand.request_wait(next);
    end if;
end
$$;

-- Whether the session's login or role is bound to a tenant.
create or replace function minutehand.is_bound() returns boolean
language plpgsql stable
as $$
begin
    return exists (select from minutehand.tenant_roles t where t.role in (session_user, minutehand.session_role()));
end
$$;

-- Whether the transaction has just begun, as that of a single statement: it has written nothing, is younger than a second, and
-- sees what others commit while it waits for a lock.
create or replace function minutehand.begins_transaction() returns boolean
language plpgsql volatile
as $$
begin
    return current_setting('transaction_isolation') = 'read committed' and pg_current_xact_id_if_assigned() is null
           and clock_timestamp() < now() + interval '1 second';
end
$$;

-- Returns those of the given jobs that are due, and that the session's tenant may see.
create or replace function minutehand.due_of(ids uuid[], scope text) returns uuid[]
language plpgsql volatile
as $$
begin
    return array(select j.id
                   from minutehand.jobs_live j
                  where j.id = any (ids) and scope in ('', j.tenant) and j.visible <= now()
                    and minutehand.may_start(j.attempts, j.max_attempts, j.cancelling, j.run_at, j.expires, now()));
end
$$;

-- Returns when the first of those of the given jobs becomes due that are not due yet, and that the session's tenant may see.
create or replace function minutehand.first_later(ids uuid[], scope text) returns timestamptz
language plpgsql volatile
as $$
begin
    return (select min(j.visible)
              from minutehand.jobs_live j
             where j.id = any (ids) and scope in ('', j.tenant) and j.visible > now() and coalesce(j.offered, j.claimed) is null);
end
$$;

-- Chooses those of the given due jobs that may be offered at once: all of a queue, or none if there is no room for them, if the
-- queue has a reduced budget, or if another job of the queue that could start is due.
create or replace function minutehand.choose_now(due uuid[], capacity integer) returns uuid[]
language plpgsql volatile
as $$
declare
    chosen uuid[] := '{}';
    own    record;
    room   integer := capacity - minutehand.count_busy(capacity);
begin
    for own in select j.queue::text, array_agg(j.id) as ids from minutehand.jobs_live j where j.id = any (due) group by j.queue loop
        continue when cardinality(own.ids) > room
                   or exists (select from minutehand.budgets b
                               where b.queue = own.queue
                                 and minutehand.budget_at(b.budget, b.lapsed, clock_timestamp()) < capacity);
        begin
            chosen := chosen || minutehand.choose_alone(own.queue, own.ids);
            room := room - cardinality(own.ids);
        exception
            -- Undoes what the choice of others has changed.
            when triggered_action_exception then null;
        end;
    end loop;
    return chosen;
end
$$;

-- Counts the jobs that are offered or running, up to the capacity.
create or replace function minutehand.count_busy(capacity integer) returns integer
language plpgsql volatile
as $$
begin
    return (select count(*)
              from (select
                      from minutehand.jobs_live j
                     where coalesce(j.offered, j.claimed) is not null and coalesce(j.claimed, j.offered) >= (select busy_since from minutehand.dispatcher)
                       and j.visible > now()
                     limit capacity) busy);
end
$$;

-- Chooses the given due jobs of a queue, and locks them. Raises 09000 if any of them has to wait, or if another job of the
-- queue would be chosen as well: none overtakes jobs that have been due for longer.
create or replace function minutehand.choose_alone(in_queue text, ids uuid[]) returns uuid[]
language plpgsql volatile
as $$
declare
    chosen uuid[];
begin
    chosen := array(select minutehand.choose(cardinality(ids) + 1, now(), only_queue => in_queue));
    if chosen @> ids and ids @> chosen then
        return chosen;
    end if;
    raise triggered_action_exception using message = 'other jobs are due in the queue';
end
$$;

-- Whether a dispatcher waits for a time, or was requested in the last second, or the next tick comes before.
create or replace function minutehand.has_waiter(moment timestamptz) returns boolean
language plpgsql volatile
as $$
declare
    at timestamptz := clock_timestamp();
begin
    return moment > at + interval '60 seconds'
        or exists (select from minutehand.waiting w
                    where w.until > at or w.scheduled > at - interval '60 seconds' and moment > w.scheduled + interval '60 seconds');
end
$$;

-- Requests that a dispatcher waits for a time, unless one waits or was requested in the last second, or the next tick comes
-- before. Returns whether the caller must invoke it. With all invocations lost, this costs one each second.
create or replace function minutehand.request_wait(moment timestamptz) returns boolean
language plpgsql volatile security definer set search_path = minutehand, pg_temp
as $$
declare
    at timestamptz := clock_timestamp();
begin
    -- A read first, because it does not wait for others.
    if minutehand.has_waiter(moment) then
        return false;
    end if;
    update minutehand.waiting w set until = at + interval '1 second', waiter = null where w.until <= at;
    return found;
exception
    when lock_not_available then return false;
end
$$;

-- Withdraws offers whose invitation was refused, so that the jobs are due again; as withdraw.sql, for roles that cannot write
-- to the table. The ack is the right to do so.
create or replace function minutehand.withdraw_now(ids uuid[], acks uuid[]) returns void
language sql volatile security definer set search_path = minutehand, pg_temp
as $$
    with refused as (
        update minutehand.jobs_live j
           set ack = j.prior, prior = null, offered = null, visible = least(j.visible, clock_timestamp())
          from unnest(ids, acks) as o (id, ack)
         where j.id = any (ids) and j.id = o.id and j.ack = o.ack and (j.claimed is null or j.offered > j.claimed)
        returning j.id, j.tenant, j.visible
    )
    select minutehand.note_unclaimed(array_agg(r.id), array_agg(r.tenant), array_agg(j.offered), array_agg(r.visible), array_agg('refused'::text))
      from refused r join minutehand.jobs_live j on j.id = r.id
     where j.id = any (ids)
    having count(*) > 0
$$;
