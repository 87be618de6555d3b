-- Notes the wake-up of a tick that watches over offered and running jobs, and forgets those that have fired.
with fired as (
    delete from minutehand.watches where at <= clock_timestamp()
)
insert into minutehand.watches (name, at) select %(name)s::text, %(at)s::timestamptz where %(name)s::text is not null
