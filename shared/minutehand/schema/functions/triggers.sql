-- Trigger functions. Applied before the migrations, which create the triggers.

-- Lowers a lane's floor when a row is inserted with an earlier `visible`.
-- There is no such trigger on update: its condition alone made a claim 25 % slower. The sweep finds rows that
-- an update moved below the floor.
create or replace function minutehand.lower_floor() returns trigger
language plpgsql security definer set search_path = minutehand, pg_temp
as $$
begin
    insert into minutehand.lanes as l (queue, priority, floor) values (new.queue, new.priority, new.visible)
        on conflict (queue, priority) do update set floor = excluded.floor where l.floor > excluded.floor;
    return null;
end
$$;

-- Marks a lane as shared when a job of a tenant enters it.
create or replace function minutehand.share_lane() returns trigger
language plpgsql security definer set search_path = minutehand, pg_temp
as $$
begin
    if not exists (select from minutehand.lanes l where l.queue = new.queue and l.priority = new.priority and l.shared) then
        insert into minutehand.lanes as l (queue, priority, shared) values (new.queue, new.priority, true)
            on conflict (queue, priority) do update set shared = true where not l.shared;
    end if;
    return null;
end
$$;

-- Registers the lane that a job moves to, so that the job is found there at once.
-- The trigger fires only on updates that name `queue` or `priority`. No statement of the flow names them, so
-- the flow does not pay for it.
create or replace function minutehand.change_lane() returns trigger
language plpgsql security definer set search_path = minutehand, pg_temp
as $$
begin
    insert into minutehand.lanes as l (queue, priority, floor, shared)
    values (new.queue, new.priority, least(new.visible, now() - interval '1 minute'), new.tenant <> '')
        on conflict (queue, priority) do update
       set floor = least(l.floor, excluded.floor), shared = l.shared or excluded.shared
     where l.floor > new.visible or excluded.shared and not l.shared;
    return null;
end
$$;

-- Clears the payload, headers and on_dead of a personal job when it is finished, whichever statement finishes it.
create or replace function minutehand.clear_personal() returns trigger
language plpgsql
as $$
begin
    new.payload := 'null';
    new.headers := null;
    new.on_dead := null;
    return new;
end
$$;

-- Forgets which days need no work, because retention changed.
create or replace function minutehand.forget_kept_days() returns trigger
language plpgsql security definer set search_path = minutehand, pg_temp
as $$
begin
    delete from minutehand.kept_days;
    return null;
end
$$;
