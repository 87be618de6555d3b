-- Returns a job with all columns.
select j.*, minutehand.state(j) as state from minutehand.jobs j where j.id = %(id)s
