-- `coalesce(id, id)` is the id, and keeps the planner from searching this index for ids. If the table was analyzed while it had no
-- job, the planner assumes one row, for which such a search looked cheaper than one of the primary key, although it reads all
-- entries. While a snapshot is old, these are the entries of all jobs that have ended since.
drop index minutehand.jobs_live_due;
create index jobs_live_due on minutehand.jobs_live (queue, priority, visible, coalesce(id, id));
-- Of two indexes with the same estimate, the planner takes the newer one. Without statistics, these have the estimate of the index
-- above, and are better.
drop index minutehand.jobs_live_tenant, minutehand.jobs_live_group;
create index jobs_live_tenant on minutehand.jobs_live (queue, priority, tenant, visible, id) where tenant <> '';
create index jobs_live_group on minutehand.jobs_live (queue, priority, tenant, "group", visible) where "group" is not null;
