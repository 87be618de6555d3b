-- Record the subjects of an erasure; later batches leave their private columns null.
insert into minutehand.erased (what, value)
select 'job', unnest(%(jobs)s::text[]) union all select 'tenant', unnest(%(tenants)s::text[])
    on conflict do nothing
