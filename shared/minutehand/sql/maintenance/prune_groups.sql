-- Forgets the blocks of groups that are over, and where scans of groups ended long ago.
select minutehand.prune_groups(coalesce(%(now)s, now()), 1000)
