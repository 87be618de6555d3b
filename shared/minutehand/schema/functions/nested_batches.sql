-- Nested batches: a batch counts as one job of its parent. It is open until it has ended, and then done, or dead if one of its jobs
-- did not succeed. Its callback is another job of the parent. So the parent ends after both.

-- Adds a new batch to its parent. Refuses a parent that has ended or is another tenant's.
create or replace function minutehand.nest_batch(nested minutehand.batches) returns void
language plpgsql volatile
as $$
begin
    perform minutehand.add_to_batches(array[nested.parent], array[nested.id], array[nested.tenant::text], minutehand.current_tenant());
    if (select count(*) from minutehand.batches_around(nested.id)) > 10 then
        perform minutehand.refuse('batch_is_shallow');
    end if;
end
$$;

-- Returns a batch and those that it is nested in.
create or replace function minutehand.batches_around(of_batch uuid) returns setof uuid
language sql stable rows 2
as $$
    with recursive a (id) as (
        select of_batch
         union
        select b.parent from a join minutehand.batches b on b.id = a.id where b.parent is not null)
    select id from a
$$;

-- Returns a batch and those that are nested in it.
create or replace function minutehand.batches_in(of_batch uuid) returns setof uuid
language sql stable rows 10
as $$
    with recursive n (id) as (
        select of_batch
         union
        select b.id from n join minutehand.batches b on b.parent = n.id)
    select id from n
$$;

-- Counts the end of a batch in its parent, which may end with it. In two cases the next tick decides whether the parent ends: if
-- another transaction has locked the parent, because this one holds locks of the nested batch; and if the batch ends in the
-- transaction that opened it, because that may stay open and workers would wait for its locks.
create or replace function minutehand.count_nested(nested minutehand.batches, failed boolean) returns void
language plpgsql volatile set lock_timeout = '100ms'
as $$
declare
    shard constant smallint := minutehand.shard_of(nested.id);
begin
    if not exists (select from minutehand.batches b where b.id = nested.parent) then
        return;
    end if;
    insert into minutehand.batch_changes (batch, shard, open, done, dead)
    values (nested.parent, shard, -1, (not failed)::integer, failed::integer);
    if nested.created >= now() or not minutehand.try_to_check(nested.parent, shard) then
        insert into minutehand.batch_checks (batch, shard) values (nested.parent, shard);
    end if;
end
$$;

-- Returns ids of unfinished jobs of a batch and of those nested in it, after an id. Without `running`, only those that do not run.
create or replace function minutehand.unfinished_in(of_batch uuid, after uuid, max_jobs integer, running boolean default true) returns setof uuid
language sql stable rows 100
as $$
    select f.id
      from minutehand.batches_in(of_batch) n (id)
     cross join lateral (
           select j.id from minutehand.jobs j
            where j.deleted is null and j.batch = n.id and j.id > unfinished_in.after
              and (unfinished_in.running or minutehand.state(j, clock_timestamp()) <> 'running')
            order by j.id limit max_jobs) f
     order by f.id
     limit max_jobs
$$;

-- The same for jobs that ended without success.
create or replace function minutehand.failed_in(of_batch uuid, after uuid, max_jobs integer) returns setof uuid
language sql stable rows 100
as $$
    select f.id
      from minutehand.batches_in(of_batch) n (id)
     cross join lateral (
           select j.id from minutehand.jobs j
            where j.deleted is not null and j.failed and j.batch = n.id and j.id > failed_in.after order by j.id limit max_jobs) f
     order by f.id
     limit max_jobs
$$;
