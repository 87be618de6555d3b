-- Takes back what a schedule enqueued ahead of its moment.
select minutehand.withdraw_ahead(minutehand.current_tenant(), %(name)s, %(now)s) as withdrawn
