-- Lists the groups that RetryAfter holds back, those that wait the longest.
select queue, tenant, "group", held_until from minutehand.retry_holds(%(limit)s)
