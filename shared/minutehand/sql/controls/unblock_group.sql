-- Lets a group continue that dead jobs block, or that waits because of RetryAfter; returns these jobs, and a null for the wait.
select job from minutehand.unblock(%(queue)s, %(tenant)s, %(group)s) job
