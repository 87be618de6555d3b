-- Deletes the times of rates that are over, without which a rate has its whole burst, and those of rates that were replaced or
-- removed. Reads one entry of the index for each rate. Returns how many it deleted of the more numerous ones, at most 10,000.
with recursive counted (control) as (
    select min(control) from minutehand.rates
     union all
    select (select min(r.control) from minutehand.rates r where r.control > n.control) from counted n where n.control is not null
), former as (
    delete from minutehand.rates
     where ctid = any (array(select r.ctid
                               from counted n
                               join minutehand.rates r on r.control = n.control
                              where not exists (select from minutehand.controls c where c.id = n.control)
                              limit 10000
                                for update of r skip locked))
    returning 1
), over as (
    delete from minutehand.rates
     where ctid = any (array(select ctid
                               from minutehand.rates
                              where due <= coalesce(%(now)s, now())
                              order by due
                              limit 10000
                                for update skip locked))
    returning 1
)
select greatest((select count(*) from former), (select count(*) from over)) as deleted
