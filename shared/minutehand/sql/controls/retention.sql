-- What was said of retention, that of every queue first.
select queue, what, keep from minutehand.retention order by queue, what
