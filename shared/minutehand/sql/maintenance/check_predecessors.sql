-- Makes stored checks of predecessors; returns their number.
select minutehand.check_predecessors(%(limit)s) as checks
