-- Returns ids of unfinished jobs of a batch and of those nested in it, after an id.
select id from minutehand.unfinished_in(%(batch)s, %(after)s, %(limit)s) id
