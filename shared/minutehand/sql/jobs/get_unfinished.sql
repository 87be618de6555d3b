-- Returns the state of an unfinished job. Reads a page of the live partition, however many days are kept.
select minutehand.state(j, clock_timestamp()) as state from minutehand.jobs j where j.deleted is null and j.id = %(id)s
