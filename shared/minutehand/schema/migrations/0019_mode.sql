-- The mode of the latest tick, and since when it is the mode. In a new installation there was none before.
alter table minutehand.dispatcher
    add column mode       text        constraint dispatcher_mode check (mode in ('minute', 'prompt', 'sleep')),
    add column mode_since timestamptz not null default '-infinity';
