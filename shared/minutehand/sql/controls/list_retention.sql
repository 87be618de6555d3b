-- Lists the retention that is set, that for every queue first.
select queue, what, keep from minutehand.retention order by queue, what
