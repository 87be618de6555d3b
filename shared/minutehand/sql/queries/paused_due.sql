-- Counts the due jobs that a pause stops, for each queue or each kind in it, and returns when the oldest other one became
-- due.
with pauses as materialized (
    select * from minutehand.controls c where c.paused and (c.until is null or c.until > clock_timestamp())
)
select d.queue, d.kind, count(*) filter (where d.paused) as paused, min(d.visible) filter (where not d.paused) as since
  from (select j.queue, case when %(by_kind)s then j.kind end as kind, j.visible,
               exists (select from pauses p
                        where p.queue in ('', j.queue) and p.kind in ('', j.kind) and p.key in ('', j.key)
                          and p.group in ('', j.group) and p.tenant in ('', j.tenant)) as paused
          from minutehand.jobs j
         where j.deleted is null and minutehand.state(j) = 'due'
           and (%(queue)s::text is null or j.queue = %(queue)s)
           and (%(kind)s::text is null or j.kind = %(kind)s)) d
 where exists (select from pauses)
 group by 1, 2
