-- Postgres prepares the condition of a trigger for each statement that it concerns, also for those that enqueue, take or end one job.
-- These conditions are as small as possible; the functions check the rest.
-- This locks the tables in the order of other statements. Otherwise it could deadlock with one of them.
lock table minutehand.jobs in share row exclusive mode;
create or replace trigger end_waits after delete on minutehand.jobs_live
    for each row when (old.after_failure is not null) execute function minutehand.end_waits();
create or replace trigger unblock_group after insert on minutehand.jobs_live
    for each row when (new.error is not null) execute function minutehand.unblock_group();
create or replace trigger block_group after insert on minutehand.jobs_done
    for each row when (new.failed) execute function minutehand.block_group();
