-- Unclaimed offers: what a job's timeline shows of the offers that no worker claimed.
--
-- A job has one column for its offer, which the next offer replaces. An unclaimed offer is noted here by the tick that offers the
-- job again, by a refused invitation and by a pause. Claims, finishes and other changes of the job write nothing.

create table minutehand.unclaimed_offers (
    job      uuid              primary key,
    tenant   minutehand.tenant not null,
    -- How many offers were noted. The arrays have the latest of them; see note_unclaimed.
    offers   integer           not null,
    offered  timestamptz[]     not null check (cardinality(offered) <= 20),
    ended    timestamptz[]     not null check (cardinality(ended) <= 20),
    -- lapsed, refused or recalled
    outcomes text[]            not null check (cardinality(outcomes) <= 20),
    -- The UTC day of the last one. Not its time: an update that leaves the index as it is stays in its page.
    day      date              not null
) with (fillfactor = 70);
create index unclaimed_offers_day on minutehand.unclaimed_offers (day);

alter table minutehand.unclaimed_offers enable row level security;
