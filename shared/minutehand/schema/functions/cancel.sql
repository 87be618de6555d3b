-- Cancel: end jobs that are to be cancelled, and then their successors.

-- Ends running jobs whose cancellation was requested, and whose worker died before it checked for it, and jobs whose predecessor did
-- not succeed; then the successors of these, which are to be cancelled too. At most `max_jobs`, for about a second.
create or replace function minutehand.cancel_lapsed(max_jobs integer, moment timestamptz)
returns table (id uuid, queue text, kind text, key text, attempts integer, max_attempts integer, tenant text, batch uuid)
language plpgsql volatile
as $$
#variable_conflict use_column
declare
    room  integer := max_jobs;
    found_jobs integer;
begin
    loop
        return query
            with requested as materialized (
                select j.id
                  from minutehand.jobs_live j
                 where j.deleted is null and j.cancelling is not null and j.visible <= coalesce(moment, clock_timestamp())
                 order by j.visible
                 limit room
                   for update skip locked
            ), cancelled as (
                update minutehand.jobs j
                   set deleted = clock_timestamp(), failed = true, cancelled = true,
                       error = jsonb_build_object('type', 'Cancelled', 'message', j.cancelling)
                 where j.deleted is null and j.id = any (array(select r.id from requested r))
                returning j.id, j.queue, j.kind, j.key, j.attempts, j.max_attempts, j.tenant, j.claimed, j.batch
            ), history as (
                insert into minutehand.attempts (job, attempt, started, tenant, queue, kind, outcome)
                select c.id, c.attempts, c.claimed, c.tenant, c.queue, c.kind, 'lapsed' from cancelled c where c.claimed is not null
            ), counted as (
                select minutehand.count_ends(array_agg(c.batch), array_agg(c.id), array_agg('cancelled'::text))
                  from cancelled c where c.batch is not null having count(*) > 0
            )
            select c.id, c.queue::text, c.kind::text, c.key::text, c.attempts, c.max_attempts::integer, c.tenant::text, c.batch
              from cancelled c where (select count(*) from counted) >= 0;
        get diagnostics found_jobs = row_count;
        room := room - found_jobs;
        exit when found_jobs = 0 or room <= 0 or clock_timestamp() > statement_timestamp() + interval '1 second';
    end loop;
end
$$;
