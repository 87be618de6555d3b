-- Puts a claimed job back for later: a retry, a snooze, or one that its worker had not begun. The last two get
-- their attempt back. The same fence as finish.
update minutehand.jobs_live
   set ack = null, prior = null, offered = null, claimed = null,
       visible = clock_timestamp() + %(delay)s, attempts = attempts - %(refund)s, error = coalesce(%(error)s::jsonb, error)
 where id = %(id)s and %(ack)s in (ack, prior)
returning visible
