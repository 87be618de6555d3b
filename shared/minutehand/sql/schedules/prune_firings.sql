-- Deletes the oldest lines of the ledger, which catch-up no longer reaches.
delete from minutehand.firings
 where ctid = any (array(select ctid
                           from minutehand.firings
                          where nominal < coalesce(%(now)s, now()) - %(keep)s::interval
                          order by nominal
                          limit %(limit)s))
returning nominal
