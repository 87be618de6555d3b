-- Return the number and the identities of the rows of a day in the default partition.
select rows, identity from minutehand.identities(%(home)s, %(home)s || '_default', %(day)s::date)
