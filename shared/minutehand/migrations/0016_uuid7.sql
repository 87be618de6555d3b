-- Ids: one look at the clock for each.
--
-- With two, a millisecond that ended between them made an id that sorted before the others of that millisecond, and a
-- page of the latest jobs showed them in the wrong order.
create or replace function minutehand.uuid7() returns uuid
language plpgsql volatile parallel safe
as $$
declare
    moment bigint := extract(epoch from clock_timestamp()) * 1000000;
begin
    return encode(overlay(
        uuid_send(gen_random_uuid())
        placing int8send(moment / 1000 << 16 | (x'7000'::bigint + moment % 1000 * 4096 / 1000)) from 1 for 8), 'hex')::uuid;
end
$$;
