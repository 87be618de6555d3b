-- Begins to wait inside the minute. The dispatcher of a tick takes over from one that waits; one that was invoked by a
-- process that enqueues does not. Returns no row if another one goes on.
update minutehand.waiting
   set waiter = %(waiter)s, until = clock_timestamp() + %(lasts)s::interval,
       scheduled = case when %(scheduled)s then clock_timestamp() else scheduled end
 where %(scheduled)s or waiter is null or until < clock_timestamp()
returning until
