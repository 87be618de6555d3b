-- Groups: jobs of which a limited number run at once.

create domain minutehand.job_group as text constraint group_fits check (octet_length(value) between 1 and 1024);

-- The jobs of a group run one at a time, or as its limit declares. It is a group of a queue and a tenant, like a key.
alter table minutehand.jobs add "group" minutehand.job_group;

alter table minutehand.new_jobs add "group" text;
alter table minutehand.new_jobs drop constraint items_fit;
alter table minutehand.new_jobs add constraint items_fit check (num_nulls(
    kind::minutehand.kind, payload::minutehand.payload, queue::minutehand.queue, key::minutehand.key, "group"::minutehand.job_group,
    retry::minutehand.retry, headers::minutehand.headers, every::minutehand.every, zone::minutehand.zone,
    schedule::minutehand.schedule_name, tenant::minutehand.tenant, on_conflict::minutehand.label, unique_while::minutehand.label,
    on_dead::minutehand.on_dead) >= 0);
