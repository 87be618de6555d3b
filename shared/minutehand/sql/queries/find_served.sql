-- Finds which of these queues were served in a period until now: jobs of theirs are offered or running, or attempts ended.
select queue
  from unnest(%(queues)s::text[]) given (queue)
 where exists (select from minutehand.jobs_live j
                where j.queue = given.queue and coalesce(j.offered, j.claimed) is not null and j.visible > now())
    or exists (select from minutehand.attempts a where a.queue = given.queue and a.ended > now() - %(period)s::interval)
