-- Postgres prepares the condition of a trigger for each statement that it concerns, also for those that end or take one job. These
-- conditions are as small as possible; the functions check the rest.
drop trigger block_group on minutehand.jobs_done;
create trigger block_group after insert on minutehand.jobs_done
    for each row when (new.failed) execute function minutehand.block_group();
drop trigger end_waits on minutehand.jobs_live;
create trigger end_waits after delete on minutehand.jobs_live
    for each row when (old.after_failure is not null) execute function minutehand.end_waits();
