-- Whether a job is not finished yet: one page of the live ones, however many days are kept.
select minutehand.state(j, clock_timestamp()) as state from minutehand.jobs j where j.deleted is null and j.id = %(id)s
