-- Says the last batch of a home that the ledger has, and which table of a lake it is in.
select number, lake::text as lake from minutehand.archive_batches where home = %(home)s and number >= 0 order by number desc limit 1
