-- Forgets old unclaimed offers.
select minutehand.prune_unclaimed(%(now)s)
