-- Returns ids of unfinished jobs of a batch and of those nested in it, after an id. Without `running`, only those that do not run.
select id from minutehand.unfinished_in(%(batch)s, %(after)s, %(limit)s, %(running)s) id
