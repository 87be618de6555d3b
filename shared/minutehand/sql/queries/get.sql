-- One job with all that is known of it.
select j.*, minutehand.state(j) as state from minutehand.jobs j where j.id = %(id)s
