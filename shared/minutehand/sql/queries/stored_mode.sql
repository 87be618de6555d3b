-- Returns the mode of the latest tick. Needs the privileges of minutehand_operator, minutehand_reader or minutehand_worker.
select mode from minutehand.dispatcher
