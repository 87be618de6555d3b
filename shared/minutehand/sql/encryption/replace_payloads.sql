-- Replaces payloads with re-encrypted ones, unless they have changed since.
select id from minutehand.replace_payloads(%(ids)s, %(former)s, %(payloads)s)
