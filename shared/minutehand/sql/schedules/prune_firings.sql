-- Forgets the oldest lines of the ledger, whose moments no catch-up reaches any more.
delete from minutehand.firings
 where ctid = any (array(select ctid
                           from minutehand.firings
                          where nominal < coalesce(%(now)s, now()) - %(keep)s::interval
                          order by nominal
                          limit %(most)s))
returning nominal
