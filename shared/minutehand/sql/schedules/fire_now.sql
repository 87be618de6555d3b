-- Enqueues a schedule's job now, in addition to its occurrences.
select job from minutehand.fire_now(%(name)s, %(moment)s, %(key)s) job where job is not null
