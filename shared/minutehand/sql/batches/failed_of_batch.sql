-- Returns ids of jobs of a batch, and of those nested in it, that ended without success, after an id.
select id from minutehand.failed_in(%(batch)s, %(after)s, %(limit)s) id
