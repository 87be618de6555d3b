-- The alarms of mode sleep that watch over offered and running jobs.

-- A tick that leaves such jobs has an alarm for the first end of an offer or lease. It is noted here after the offers were
-- committed. The worker that ends the last job deletes it, which would otherwise wake the database for nothing.
create table minutehand.watches (
    name minutehand.label primary key,
    at   timestamptz      not null
);
