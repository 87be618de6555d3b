-- Deletes the times of rates that are over: without one, a rate has its whole burst.
delete from minutehand.rates
 where ctid = any (array(select ctid
                           from minutehand.rates
                          where due <= coalesce(%(now)s, now())
                          order by due
                          limit 10000
                            for update skip locked))
