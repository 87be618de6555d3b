-- Records when the tick had counted the busy jobs and made its offers, and whether they use up the capacity. A job that
-- ended later was busy for it, so its slot still belongs to its worker.
update minutehand.dispatcher
   set counted = clock_timestamp(), capacity = %(capacity)s::integer, offer_ttl = %(ttl)s::interval,
       -- The offers are compared with their room, which `offer` has counted: under an old snapshot, each count reads the index
       -- entries of all offers and claims since the first job that is still busy.
       is_full = case when %(offers)s::integer > 0 then %(offers)s::integer >= %(room)s::integer
                      else %(capacity)s <= (select count(*)
                                              from (select
                                                      from minutehand.jobs_live
                                                     where coalesce(offered, claimed) is not null
                                                       and coalesce(claimed, offered) >= dispatcher.busy_since
                                                       and visible > coalesce(%(now)s, clock_timestamp())
                                                     limit %(capacity)s) busy) end
