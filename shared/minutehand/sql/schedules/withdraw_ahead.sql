-- Withdraws the jobs that a schedule enqueued ahead of their occurrence.
select minutehand.withdraw_ahead(minutehand.current_tenant(), %(name)s, %(now)s) as withdrawn
