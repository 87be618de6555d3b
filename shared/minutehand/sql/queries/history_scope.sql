-- Returns whether the session is confined to a tenant.
select minutehand.current_tenant() <> '' as confined
