-- Waking: what lets jobs start without waiting for the next tick.
--
--   waiting      the dispatcher that waits inside its minute for jobs that become due
--   dispatcher   with the offers' time to live

-- Not in the table `dispatcher`, whose row is locked while a tick offers jobs: nobody who enqueues waits for that.
create table minutehand.waiting (
    one       boolean     primary key default true constraint waiting_is_one_row check (one),
    -- The invocation that waits; null if it was requested and has not begun.
    waiter    uuid,
    -- It looks for due jobs once a second until then: another one is not invoked before.
    until     timestamptz not null default '-infinity',
    -- The last tick of the schedule, from which the time of the next one follows.
    scheduled timestamptz not null default '-infinity'
);
insert into minutehand.waiting default values;

-- The time to live of the latest tick's offers, for those that a process makes after its commit.
alter table minutehand.dispatcher add column offer_ttl interval;
