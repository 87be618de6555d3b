-- Restores the former tenant and role for the rest of the transaction.
select set_config('minutehand.tenant', %(tenant)s, true), set_config('role', %(role)s, true)
