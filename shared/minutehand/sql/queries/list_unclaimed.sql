-- Lists the latest offers of a job that no worker claimed, oldest first, and how many there were.
select o.offered, o.ended, o.outcome, u.offers
  from minutehand.unclaimed_offers u
 cross join lateral unnest(u.offered, u.ended, u.outcomes) with ordinality o (offered, ended, outcome, place)
 where u.job = %(job)s
 order by o.place
