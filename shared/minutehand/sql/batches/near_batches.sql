-- Returns the next lower and the next higher id of each of these batches, within a range.
select given.id, below.id as below, above.id as above
  from unnest(%(ids)s::uuid[], %(lows)s::uuid[], %(highs)s::uuid[]) given (id, low, high)
  left join lateral (
        select b.id from minutehand.batches b where b.id >= given.low and b.id < given.id order by b.id desc limit 1) below on true
  left join lateral (
        select b.id from minutehand.batches b where b.id > given.id and b.id <= given.high order by b.id limit 1) above on true
