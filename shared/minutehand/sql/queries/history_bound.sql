-- Returns the time, whether the session is confined to a tenant, and when the tenant enqueued its 20,000th latest job.
select clock_timestamp() as now, minutehand.current_tenant() <> '' as confined,
       case when minutehand.current_tenant() <> ''
            then (select j.enqueued from minutehand.jobs j order by j.id desc offset 20000 limit 1) end as oldest
