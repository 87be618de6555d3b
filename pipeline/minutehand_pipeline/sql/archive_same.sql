-- Says how many rows of a day lie in the default partition, and which they are.
select rows, identity from minutehand.identities(%(home)s, %(home)s || '_default', %(day)s::date)
