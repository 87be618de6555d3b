-- Returns the upcoming job with a key, else the running one, else the last to finish.
with named as (
    select 1 as place, u.id, null::timestamptz as deleted
      from minutehand.jobs u
     where u.deleted is null and u.queue = %(queue)s and u.key = %(key)s and u.claimed is null
       and u.tenant = coalesce(nullif(minutehand.current_tenant(), ''), %(tenant)s)
    union all
    (select 2, r.id, null
       from minutehand.jobs r
      where r.deleted is null and coalesce(r.offered, r.claimed) is not null and r.claimed is not null
        and r.queue = %(queue)s and r.key = %(key)s
        and r.tenant = coalesce(nullif(minutehand.current_tenant(), ''), %(tenant)s)
      order by r.claimed desc
      limit 1)
    union all
    (select 3, d.id, d.deleted
       from minutehand.jobs d
      where d.deleted is not null and d.queue = %(queue)s and d.key = %(key)s
        and d.tenant = coalesce(nullif(minutehand.current_tenant(), ''), %(tenant)s)
      order by d.deleted desc
      limit 1)
    order by place
    limit 1
)
select j.*
  from named, lateral (
       select l.*, minutehand.state(l) as state
         from minutehand.jobs l where named.deleted is null and l.deleted is null and l.id = named.id
        union all
       select d.*, minutehand.state(d)
         from minutehand.jobs d where d.deleted is not null and d.deleted = named.deleted and d.id = named.id) j
