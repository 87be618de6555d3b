-- Unclaimed offers: offers that no worker claimed, for the timeline of their jobs.

-- Notes an offer of each of these jobs that ended without a claim, and forgets all but the latest twenty of a job. An outcome is
-- `lapsed` if no worker claimed the offer in time, `refused` if the invitation was refused, and `recalled` if the job was paused.
create or replace function minutehand.note_unclaimed(jobs uuid[], tenants text[], offered timestamptz[], ended timestamptz[], outcomes text[])
returns void
language sql volatile security definer set search_path = minutehand, pg_temp
as $$
    insert into minutehand.unclaimed_offers as u (job, tenant, offers, offered, ended, outcomes, day)
    select n.job, n.tenant, 1, array[n.offered], array[n.ended], array[n.outcome], (n.ended at time zone 'UTC')::date
      from unnest(jobs, tenants, offered, ended, outcomes) n (job, tenant, offered, ended, outcome)
     where n.offered is not null and (select minutehand.tenant_scope()) in ('', n.tenant)
     -- In one order, so that sessions do not deadlock.
     order by n.job
        on conflict (job) do update
       set offers = u.offers + 1,
           offered = (u.offered || excluded.offered)[greatest(1, cardinality(u.offered) - 18):],
           ended = (u.ended || excluded.ended)[greatest(1, cardinality(u.ended) - 18):],
           outcomes = (u.outcomes || excluded.outcomes)[greatest(1, cardinality(u.outcomes) - 18):],
           day = excluded.day
$$;

-- Forgets the unclaimed offers of jobs of which none was noted for a week.
create or replace function minutehand.prune_unclaimed(now timestamptz default null) returns void
language sql volatile security definer set search_path = minutehand, pg_temp
as $$
    delete from minutehand.unclaimed_offers
     where job = any (array(select u.job
                              from minutehand.unclaimed_offers u
                             where u.day < (coalesce(prune_unclaimed.now, clock_timestamp()) at time zone 'UTC')::date - 7
                             order by u.day
                             limit 50000
                               for update skip locked))
       and minutehand.tenant_scope() = ''
$$;
