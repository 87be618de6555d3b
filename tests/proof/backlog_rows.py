"""Statements that insert many rows: finished, due and scheduled jobs, attempts, events and schedules."""

DAYS = """select minutehand.make_days(0, (now() at time zone 'UTC')::date - %(ago)s::integer)"""
FINISHED = """
insert into minutehand.jobs_done (id, kind, run_at, visible, enqueued, deleted, failed, attempts)
select gen_random_uuid(), 'echo', moment, moment, moment, moment, n %% 100 = 0, 1
  from (select n, date_trunc('day', now()) - n * interval '0.3 seconds' as moment
          from generate_series(1, %(count)s) n) made
"""
ATTEMPTS = """
insert into minutehand.attempts (job, attempt, started, ended, queue, kind, outcome, error)
select gen_random_uuid(), 1, moment, moment + n %% 100 * interval '1 second', 'default', 'echo', 'done',
       case when n %% 100 = 0 then '{"type": "ValueError", "message": "no"}'::jsonb end
  from (select n, date_trunc('day', now()) - n * interval '3 seconds' as moment
          from generate_series(1, %(count)s) n) made
"""
SCHEDULES = """
insert into minutehand.schedules (name, every, job, next, wake, last)
select 'schedule ' || n, '0 * * * *', '{"kind": "echo"}', moment, moment, gen_random_uuid()
  from (select n, now() + (n - 50) * interval '1 minute' as moment from generate_series(1, 20000) n) made
"""
FIRINGS = """
insert into minutehand.firings (schedule, nominal, outcome, job)
select 'schedule ' || n %% 50, now() - n * interval '1 minute', 'fired', gen_random_uuid()
  from generate_series(1, %(count)s) n
"""
FIRING = """[{"tenant": "", "schedule": "schedule 7", "nominal": "2030-01-01T00:00:00Z", "outcome": "fired", "count": 1,
              "late": false, "job": {}}]"""
LANES = "insert into minutehand.lanes (queue, priority) values ('default', 5), ('other', 5)"
DUE = """
insert into minutehand.jobs_live (queue, kind, key, run_at, visible)
select case when n %% 10 = 0 then 'other' else 'default' end, 'echo', 'key/' || n, moment, moment
  from (select n, now() - n * interval '0.1 seconds' as moment from generate_series(1, %(count)s) n) made
"""
SCHEDULED = """
insert into minutehand.jobs_live (kind, run_at, visible)
select 'echo', moment, moment
  from (select now() + n * interval '10 seconds' as moment from generate_series(1, %(count)s) n) made
"""
CLAIM_OR_OFFER = """
update minutehand.jobs_live
   set ack = gen_random_uuid(), offered = now(), claimed = case when %(claimed)s then now() end,
       attempts = %(claimed)s::integer, visible = now() + interval '5 minutes'
 where id in (select id from minutehand.jobs_live where visible <= now() limit 20)
returning id, ack
"""

EVENTS = """
insert into minutehand.events (at, name, job, queue, kind, facts)
select now() - n * interval '2 seconds', case when n %% 100 = 0 then 'dead' else 'done' end,
       gen_random_uuid(), 'default', 'echo', '{"ran_ms": 5}'
  from generate_series(1, %(count)s) n
"""
