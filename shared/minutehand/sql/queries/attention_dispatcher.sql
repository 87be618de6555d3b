-- Returns when the dispatcher last ticked, and the queues whose offers lapsed in the last 15 minutes, with their budgets. Needs the
-- privileges of minutehand_reader.
select (select nullif(ticked, '-infinity') from minutehand.dispatcher) as ticked, b.queue, b.budget, b.lapsed
  from (select) one
  left join (select queue, budget, lapsed from minutehand.budgets
              where lapsed > now() - interval '15 minutes'
              order by lapsed desc
              limit 20) b on true
