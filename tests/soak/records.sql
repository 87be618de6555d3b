-- The records of the soak test. The library does not know them; the checker reads hardly anything else.
create schema soak;
create table soak.enqueued (
    id          uuid        not null,
    payload     text        primary key,
    tenant      text        not null,
    queue       text        not null,
    key         text,
    not_before  timestamptz,
    fails       boolean     not null default false,
    recurring   boolean     not null default false,
    "group"     text,
    batch       uuid,
    after       uuid[]      not null default '{}',
    after_failure text,
    enqueued    timestamptz not null default clock_timestamp()
);
create table soak.attempts (
    number     bigint      generated always as identity primary key,
    job        uuid        not null,
    attempt    integer     not null,
    queue      text        not null,
    key        text,
    tenant     text        not null,
    payload    text        not null,
    "group"    text,
    claimed    timestamptz not null,
    started    timestamptz not null default clock_timestamp(),
    lease_ends timestamptz not null,
    ended      timestamptz,
    failed     boolean     not null default false
);
create table soak.batches (id uuid primary key, name text not null);
create table soak.effects (job uuid not null, attempt integer not null, payload text not null);
-- Each write of an ending.
create table soak.endings (job uuid not null, failed boolean not null, at timestamptz not null default clock_timestamp());
create function soak.record_ending() returns trigger language plpgsql security definer as
    $$ begin insert into soak.endings values (new.id, new.failed); return null; end $$;
create trigger ended after insert on minutehand.jobs
    for each row when (new.deleted is not null) execute function soak.record_ending();
grant usage on schema soak to public;
grant all on all tables in schema soak to public;
