-- The server process that answers; behind a transaction pooler it changes.
select pg_backend_pid() as process
