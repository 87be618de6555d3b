-- Counts the jobs that were enqueued after another one, up to a limit.
select count(*)::int as enqueued
  from (select from minutehand.jobs j where j.id > %(after)s limit %(limit)s) as newer
