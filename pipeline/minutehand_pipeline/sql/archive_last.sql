-- Return the last batch of a home in the ledger, and the id of the lake's table.
select number, lake::text as lake from minutehand.archive_batches where home = %(home)s and number >= 0 order by number desc limit 1
