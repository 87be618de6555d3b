-- Return the number and the identities of the rows of a day in one partition: its own, or the default partition.
select rows, identity from minutehand.identities(%(home)s, %(partition)s, %(day)s::date)
