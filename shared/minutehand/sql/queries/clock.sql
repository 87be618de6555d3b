-- Returns the time by the database's clock, the only one.
select clock_timestamp() as now
