-- Predecessors: jobs that must end before another job becomes due.
--
--   jobs.after           the predecessors of a job, which existed before it: so there are no cycles
--   waits                a row for each of them that has not ended
--   predecessor_checks   jobs that may have ended while another transaction added a successor
--
-- A job that waits is visible far in the future.

-- Domains, because each statement that writes a job would parse constraints of the table again.
create domain minutehand.predecessors as uuid[] constraint after_fits check (cardinality(value) <= 100);
create domain minutehand.after_failure as text
    constraint after_failure_is_known check (value in ('cancel', 'run', 'wait'));
alter table minutehand.jobs add column after minutehand.predecessors;
-- Null without predecessors.
alter table minutehand.jobs add column after_failure minutehand.after_failure;
-- Whether its end must look for successors; see functions/predecessors.sql.
alter table minutehand.jobs add column awaited boolean not null default false;
alter table minutehand.new_jobs add column after uuid[] constraint after_fits check (cardinality(after) <= 100);
alter table minutehand.new_jobs add column after_failure text
    constraint after_failure_is_known check (after_failure in ('cancel', 'run', 'wait'));

create table minutehand.waits (
    predecessor uuid not null,
    successor   uuid not null,
    primary key (predecessor, successor)
) with (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 1000);
create index waits_successor on minutehand.waits (successor);

-- Rows are only inserted, which waits for no other transaction.
create table minutehand.predecessor_checks (
    id  bigint generated always as identity primary key,
    job uuid   not null
) with (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 1000);

-- Not one of each statement that ends jobs: jobs without successors cost only this condition.
create trigger release_successors after insert on minutehand.jobs_done
    for each row when (new.awaited) execute function minutehand.release_successors();
-- After a retention, for example.
create trigger release_successors_of_deleted after delete on minutehand.jobs_done
    for each row when (old.awaited and old.failed) execute function minutehand.release_successors_of_deleted();
-- Others end their waits when their predecessors end.
create trigger end_waits after delete on minutehand.jobs_live
    for each row when (old.after_failure = 'wait') execute function minutehand.end_waits();
