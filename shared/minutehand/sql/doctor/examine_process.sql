-- The server process that answers; behind a transaction pooler it is another one every now and then.
select pg_backend_pid() as process
