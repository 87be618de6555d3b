-- Returns the next lower and the next higher id of each of these jobs, within a range.
select given.id, below.id as below, above.id as above
  from unnest(%(ids)s::uuid[], %(lows)s::uuid[], %(highs)s::uuid[]) given (id, low, high)
  left join lateral (
        select j.id from minutehand.jobs j where j.id >= given.low and j.id < given.id order by j.id desc limit 1) below on true
  left join lateral (
        select j.id from minutehand.jobs j where j.id > given.id and j.id <= given.high order by j.id limit 1) above on true
