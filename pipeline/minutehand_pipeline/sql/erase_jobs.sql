-- Return the jobs that have a key, in one queue or in all, finished or not.
select id::text as id from minutehand.jobs where key = %(key)s and (%(queue)s::text is null or queue = %(queue)s)
