-- Removes lanes that have been empty for a week. Enqueuers and ticks ignore an empty lane, so none misses it.
delete from minutehand.lanes l
 where ctid = any (array(select ctid
                           from minutehand.lanes
                          where floor = 'infinity' and emptied < coalesce(%(now)s, now()) - interval '7 days'
                          limit 10000
                            for update skip locked))
   and floor = 'infinity'
