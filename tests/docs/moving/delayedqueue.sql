-- DelayedQueue's columns: two messages of the migrated kind, and one of another kind.
create table delayed_queue (
    id bigserial not null, pKey varchar(200) not null, pKind varchar(100) not null, payload bytea not null,
    scheduledAt bigint not null, primary key (pKey, pKind)
);
insert into delayed_queue (pKey, pKind, payload, scheduledAt) values
    ('invoice/4711', '7d1f4f2a0b', '{"invoice": 4711}', 1893484800000),
    ('invoice/4712', '7d1f4f2a0b', '{"invoice": 4712}', 1893484800500),
    ('invoice/4711', 'ffffffffff', '{}', 1893484800000);
