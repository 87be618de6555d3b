-- Record that a lane has groups when a replaced job joins one. Triggers for statements do not get the rows that an upsert updates.
drop trigger record_lane on minutehand.jobs_live;
create trigger record_lane after update of run_at, queue, priority, "group" on minutehand.jobs_live
    for each row when (new.visible < old.visible or new.queue <> old.queue or new.priority <> old.priority
                       or new."group" is distinct from old."group")
    execute function minutehand.record_lane();
