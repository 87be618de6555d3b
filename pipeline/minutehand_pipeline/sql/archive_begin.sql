-- Announce the days of a home that are about to be read: the queue adds no more results to their jobs.
select minutehand.begin_archive(%(home)s, %(days)s::date[])
