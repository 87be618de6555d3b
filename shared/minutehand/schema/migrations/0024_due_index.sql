-- A condition that every search for due jobs implies, and a search by ids does not. If the table was analyzed while it had no job,
-- the planner assumes one row, and searched for the ids of a claim or an outcome in this index: it read all of its entries. While
-- a snapshot is old, these are the entries of all jobs that have ended since.
drop index minutehand.jobs_live_due;
create index jobs_live_due on minutehand.jobs_live (queue, priority, visible, id) where visible is not null;
