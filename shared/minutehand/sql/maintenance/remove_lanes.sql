-- Removes lanes that have been empty for a week, and positions in streams that no tick has swept for a day. Enqueuers and ticks
-- ignore an empty lane, so none misses it.
with removed as (
    delete from minutehand.positions
     where ctid = any (array(select ctid
                               from minutehand.positions
                              where swept < coalesce(%(now)s, now()) - interval '1 day'
                              limit 10000
                                for update skip locked))
)
delete from minutehand.lanes l
 where ctid = any (array(select ctid
                           from minutehand.lanes
                          where floor = 'infinity' and emptied < coalesce(%(now)s, now()) - interval '7 days'
                          limit 10000
                            for update skip locked))
   and floor = 'infinity'
