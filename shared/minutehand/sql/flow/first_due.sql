-- Finds the first due job of a queue with one lane, from which a worker's next `take_ahead` goes on. It locks nothing: a take that
-- reads the entries of many former jobs takes so long that other workers finish the jobs which it sees, and Postgres refuses to
-- lock a row that has moved to another partition. Only jobs that are more than a second late count, as in `take_ahead`.
with lane as materialized (
    select priority, floor from minutehand.due_lanes(now()) where queue = %(queue)s
)
select l.priority, j.visible as reached, j.id
  from lane l
 cross join lateral (
       select id, visible
         from minutehand.jobs_live
        where queue = %(queue)s and priority = l.priority
          and visible >= l.floor and visible <= now() - interval '1 second' and attempts < max_attempts
          and cancelling is null and (expires is null or minutehand.expires_at(run_at, expires) > now() or attempts > 0)
        order by visible, coalesce(id, id)
        limit 1) j
 where (select count(*) from lane) = 1
