-- Count offered and running jobs from the first claim or offer. While a snapshot is old, vacuum removes no index entry. An
-- index on `visible` begins with the entries of all offers and claims that would not have expired yet: with leases of five minutes
-- and 300 jobs a second, those of 126,000 finished jobs, which every count read. See advance_settled.sql.
alter table minutehand.dispatcher add busy_since timestamptz not null default '-infinity';
drop index minutehand.jobs_live_busy;
-- With `visible`, a scan that has to begin earlier skips the entries of leases that are over without reading their rows. Queries repeat
-- the condition, because the planner has statistics of it; see 0020.
create index jobs_live_busy on minutehand.jobs_live (coalesce(claimed, offered), visible) where coalesce(offered, claimed) is not null;
