-- Gives the rest of the transaction back to whom it belonged before.
select set_config('minutehand.tenant', %(tenant)s, true), set_config('role', %(role)s, true)
