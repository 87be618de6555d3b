-- Makes the rest of the transaction a tenant's, and says what it was before.
select was_tenant, was_role from minutehand.as_tenant(%(tenant)s)
