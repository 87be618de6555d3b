-- DelayedQueue's columns: two pending messages of the migrated kind, one that a consumer has, and one of another kind.
create table delayed_queue (
    id bigserial not null, pKey varchar(200) not null, pKind varchar(100) not null, payload bytea not null,
    scheduledAt bigint not null, scheduledAtInitially bigint not null default 0, lockUuid varchar(36),
    createdAt bigint not null default 0, primary key (pKey, pKind)
);
insert into delayed_queue (pKey, pKind, payload, scheduledAt, lockUuid) values
    ('invoice/1', '7d1f4f2a0b', '{"invoice": 1}', 1893484800000, null),
    ('invoice/2', '7d1f4f2a0b', '{"invoice": 2}', 1893484800500, null),
    ('invoice/3', '7d1f4f2a0b', '{"invoice": 3}', 1893484800500, 'a consumer'),
    ('invoice/1', 'ffffffffff', '{}', 1893484800000, null);
