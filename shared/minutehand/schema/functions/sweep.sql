-- Sweep: find the jobs that may start behind any number of jobs that may not.
--
-- The head of a stream, which every round of `choose` reads, may have only jobs that are paused or over a limit. Then the
-- stream is swept: the jobs that became due last, and a bounded number from where the last sweep ended. A sweep passes no job
-- that may start unless it was chosen, so after (due jobs / rows) sweeps each has been found.

-- Reads up to `rows` due jobs of a stream in the order of its index, from a row on, or from the end if `backward`. Returns
-- up to `most` that may start, how many rows it read, and the last of these; the last one that may start, if there are more.
create or replace function minutehand.read_stream(
    stream minutehand.stream, after_visible timestamptz, after_id uuid, moment timestamptz, full_scope minutehand.full_scope,
    tried uuid[], rows integer, most integer, out jobs minutehand.candidate[], out read integer, out visible timestamptz, out id uuid
)
language plpgsql stable
as $$
declare
    -- A field of a row would be looked up for each job.
    is_whole constant boolean := (stream).whole;
    of_part  constant text := (stream).part;
    in_queue constant text := (stream).queue;
    with_priority constant integer := (stream).priority;
    kinds    constant jsonb := (full_scope).kinds;
    tenants  constant jsonb := (full_scope).tenants;
    others   constant jsonb := (full_scope).others;
    seen     record;
begin
    if of_part = '' then
        select array_agg(row(r.id, in_queue, with_priority, r.visible, r.tenant, r.kind, coalesce(r.key, ''), null, '')::minutehand.candidate)
               filter (where (is_whole or r.tenant = '') and r.group is null
                         and minutehand.may_start(r.attempts, r.max_attempts, r.cancelling, r.run_at, r.expires, moment)
                         and minutehand.has_room(r.tenant, r.kind, coalesce(r.key, ''), kinds, tenants, others)
                         and r.id <> all (tried)) as jobs,
               count(*) as rows, (array_agg(r.visible))[count(*)] as visible, (array_agg(r.id))[count(*)] as id
          into seen
          from (select j.*
                 from minutehand.jobs_live j
                where j.queue = in_queue and j.priority = with_priority
                  -- Without another lower bound, from which the index would be read instead.
                  and (j.visible, coalesce(j.id, j.id)) >= (after_visible, after_id) and j.visible <= moment
                order by j.visible, coalesce(j.id, j.id)
                limit rows) r;
    else
        select array_agg(row(r.id, in_queue, with_priority, r.visible, of_part, r.kind, coalesce(r.key, ''), null, '')::minutehand.candidate)
               filter (where r.group is null and minutehand.may_start(r.attempts, r.max_attempts, r.cancelling, r.run_at, r.expires, moment)
                         and minutehand.has_room(of_part, r.kind, coalesce(r.key, ''), kinds, null, others)
                         and r.id <> all (tried)) as jobs,
               count(*) as rows, (array_agg(r.visible))[count(*)] as visible, (array_agg(r.id))[count(*)] as id
          into seen
          from (select j.*
                 from minutehand.jobs_live j
                where j.queue = in_queue and j.priority = with_priority and j.tenant = of_part and j.tenant <> ''
                  and (j.visible, j.id) >= (after_visible, after_id) and j.visible <= moment
                order by j.visible, j.id
                limit rows) r;
    end if;
    jobs := coalesce(seen.jobs, '{}');
    read := seen.rows;
    visible := seen.visible;
    id := seen.id;
    if cardinality(jobs) > most then
        jobs := jobs[:most];
        visible := (jobs[most]).visible;
        id := (jobs[most]).id;
    end if;
end
$$;

-- Returns up to `most` of the newest due jobs of a stream, as far as they may start: usually all jobs that became due
-- since the last tick.
create or replace function minutehand.read_end(
    stream minutehand.stream, moment timestamptz, full_scope minutehand.full_scope, tried uuid[], most integer
) returns setof minutehand.candidate
language sql stable rows 100
as $$
    with newest as (
        (select j.*
           from minutehand.jobs_live j
          where ((stream).whole or (stream).part = '') and j.queue = (stream).queue and j.priority = (stream).priority
            and j.visible >= (stream).floor and j.visible <= moment
          order by j.visible desc, j.id desc
          limit minutehand.scan_rows('newest'))
         union all
        (select j.*
           from minutehand.jobs_live j
          where not (stream).whole and j.queue = (stream).queue and j.priority = (stream).priority
            and j.tenant = (stream).part and j.tenant <> '' and j.visible >= (stream).floor and j.visible <= moment
          order by j.visible desc, j.id desc
          limit minutehand.scan_rows('newest'))
    )
    select n.id, n.queue::text, n.priority::integer, n.visible::timestamptz, n.tenant::text, n.kind::text, coalesce(n.key, ''), null::integer,
           ''::text
      from newest n
     where ((stream).whole or n.tenant = (stream).part) and n.group is null
       and minutehand.may_start(n.attempts, n.max_attempts, n.cancelling, n.run_at, n.expires, moment)
       and minutehand.has_room(n.tenant, n.kind, coalesce(n.key, ''), full_scope.kinds, full_scope.tenants, full_scope.others) and n.id <> all (tried)
     order by n.visible, n.id
     limit most
$$;

-- Sweeps a stream: reads at most `rows` rows, and returns up to `room` jobs that may start, and how many rows it read.
--
-- One session at a time sweeps a stream; no other waits for it. Workers that take jobs (not `always`) sweep it once a second as
-- long as nothing is found, however many of them poll, and otherwise write nothing here.
create or replace function minutehand.sweep(
    stream minutehand.stream, number integer, room integer, moment timestamptz, full_scope minutehand.full_scope,
    tried uuid[], rows integer, always boolean, out jobs minutehand.candidate[], out read integer
)
language plpgsql volatile
as $$
declare
    place record;
    chunk record;
begin
    jobs := '{}';
    read := 0;
    select p.* into place
      from minutehand.positions p
     where p.queue = (stream).queue and p.priority = (stream).priority and p.whole = (stream).whole and p.part = (stream).part
       and (always or p.hit or p.swept not between moment - interval '1 second' and moment)
       for update skip locked;
    if not found then
        -- An insert would wait for a session that has changed the row.
        insert into minutehand.positions (queue, priority, whole, part, swept, blocked)
        select (stream).queue, (stream).priority, (stream).whole, (stream).part, moment, false
         where not exists (select from minutehand.positions p
                            where p.queue = (stream).queue and p.priority = (stream).priority and p.whole = (stream).whole
                              and p.part = (stream).part)
            on conflict do nothing
        returning * into place;
        if not found then
            return;
        end if;
    end if;
    if place.visible < (stream).floor then
        place.visible := null;
        place.id := null;
    end if;
    loop
        select * into chunk
          from minutehand.read_stream(
               stream, coalesce(place.visible, (stream).floor), coalesce(place.id, '00000000-0000-0000-0000-000000000000'),
               moment, full_scope, tried, minutehand.scan_rows('step'), room - cardinality(jobs));
        read := read + chunk.read;
        jobs := jobs || array(select row(j.id, j.queue, j.priority, j.visible, j.tenant, j.kind, j.key, number, '')::minutehand.candidate
                                from unnest(chunk.jobs) j);
        -- At the end of the stream, the next sweep begins at the beginning.
        place.visible := case when chunk.read = minutehand.scan_rows('step') or cardinality(jobs) >= room then chunk.visible end;
        place.id := case when place.visible is not null then chunk.id end;
        exit when place.visible is null or read >= rows or cardinality(jobs) >= room;
    end loop;
    update minutehand.positions p
       set visible = place.visible, id = place.id, swept = moment, hit = jobs <> '{}'
     where p.queue = (stream).queue and p.priority = (stream).priority and p.whole = (stream).whole and p.part = (stream).part;
end
$$;

-- Sweeps the streams that have no candidate although they have more due jobs than their head, those first that were swept the
-- longest ago, until all sweeps have read `rows` rows. Parts of lanes share a smaller number: a tenant's jobs are on many pages.
create or replace function minutehand.sweep_blocked(
    streams minutehand.stream[], numbers integer[], room integer, moment timestamptz,
    scopes minutehand.full_scope[], tried uuid[], rows integer, always boolean, out jobs minutehand.candidate[], out swept integer[], out read integer
)
language plpgsql volatile
as $$
declare
    ends   integer := minutehand.scan_rows('newest streams');
    stream record;
    found_jobs record;
begin
    jobs := '{}';
    swept := '{}';
    read := 0;
    for stream in
        select b.number, row(b.queue, b.priority, b.floor, b.whole, b.part, b.head, b.most, b.last)::minutehand.stream as self,
               b.full_scope, case when not b.whole then minutehand.scan_rows('sweep parts') / (count(*) filter (where not b.whole) over ())::integer end as share,
               (select l.grouped from minutehand.lanes l where l.queue = b.queue and l.priority = b.priority) as grouped
          from (select s.*, f as full_scope
                  from unnest(streams) with ordinality s (queue, priority, floor, whole, part, head, most, last, number)
                  join unnest(scopes) f on f.queue = s.queue
                 where s.number <> all (numbers) and (f.tenants ? s.part) is not true) b
          left join minutehand.positions p on p.queue = b.queue and p.priority = b.priority and p.whole = b.whole and p.part = b.part
         where exists (select from minutehand.jobs_live j
                        where b.part = '' and j.queue = b.queue and j.priority = b.priority
                          and j.visible >= b.floor and j.visible <= moment
                        order by j.visible, coalesce(j.id, j.id) offset b.head + cardinality(tried))
            or exists (select from minutehand.jobs_live j
                        where b.part <> '' and j.queue = b.queue and j.priority = b.priority and j.tenant = b.part and j.tenant <> ''
                          and j.visible >= b.floor and j.visible <= moment
                        order by j.visible, j.id offset b.head + cardinality(tried))
         order by p.swept nulls first, b.number
    loop
        exit when read >= rows and ends <= 0;
        swept := swept || stream.number::integer;
        if ends > 0 then
            ends := ends - 1;
            jobs := jobs || array(select e from minutehand.read_end(stream.self, moment, stream.full_scope, tried, room) e);
        end if;
        if read < rows then
            select * into found_jobs
              -- Where groups wait, only jobs without a group are found here.
              from minutehand.sweep(stream.self, stream.number::integer, room, moment, stream.full_scope, tried,
                                    least(rows - read, stream.share, case when stream.grouped then minutehand.scan_rows('step') end), always);
            jobs := jobs || found_jobs.jobs;
            -- A sweep costs as much as some hundred rows itself.
            read := read + found_jobs.read + minutehand.scan_rows('step') / 4;
        end if;
    end loop;
end
$$;
