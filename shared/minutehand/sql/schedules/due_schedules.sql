-- Lists due schedules in the order in which they fire: tenants take turns, and of a tenant the longest due goes first.
select tenant, name, coalesce(%(now)s, now()) as now
  from (select s.tenant, s.name, s.wake, row_number() over (partition by s.tenant order by s.wake, s.name) as turn
          from minutehand.schedules s
         where not s.paused and s.wake <= coalesce(%(now)s, now())) due
 order by turn, wake, tenant, name
 limit %(limit)s
