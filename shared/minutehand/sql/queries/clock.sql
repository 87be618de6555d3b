-- The moment, by the only clock.
select clock_timestamp() as now
