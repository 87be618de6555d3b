-- Find the next due job, as a dispatcher does, to measure how long the queue's statements take now.
select id from minutehand.jobs where visible <= now() and deleted is null order by visible limit 1
