-- Writes audit entries. A change to a tenant's job is in the trail of that tenant, whatever session makes it.
select minutehand.record_audit(%(actor)s, %(verb)s, %(jobs)s, %(facts)s, %(tenants)s)
