-- Returns which part of an invocation a job of each kind takes.
select kind::text, seconds / invocation as part from minutehand.kind_times where kind = any (%(kinds)s::text[])
