-- Returns when the dispatcher last ticked, and the budget of a queue whose offers lapsed. Needs the privileges of
-- minutehand_operator or minutehand_worker.
select (select nullif(ticked, '-infinity') from minutehand.dispatcher) as ticked, b.budget, b.lapsed
  from (select) one
  left join minutehand.budgets b on b.queue = %(queue)s
