-- Confines the rest of the transaction to a tenant, and returns the former tenant and role.
select was_tenant, was_role from minutehand.as_tenant(%(tenant)s)
