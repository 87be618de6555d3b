-- Ends the wait, so that a process that enqueues invokes the dispatcher again. Commits before the last poll.
update minutehand.waiting set waiter = null, until = '-infinity' where waiter = %(waiter)s returning until
