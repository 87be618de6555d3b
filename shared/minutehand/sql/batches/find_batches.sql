-- Finds the batches whose ids are in a range: at most three, enough to report that there are several.
select b.id, coalesce(b.name, 'without a name') as label
  from minutehand.batches b
 where b.id between %(low)s and %(high)s
 order by b.id
 limit 3
