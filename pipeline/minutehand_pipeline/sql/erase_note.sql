-- Notes whose data is erased, for every batch that comes later.
insert into minutehand.erased (what, value)
select 'job', unnest(%(jobs)s::text[]) union all select 'tenant', unnest(%(tenants)s::text[])
    on conflict do nothing
