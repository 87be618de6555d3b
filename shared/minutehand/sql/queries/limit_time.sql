-- Lets the server end each further statement of the transaction that takes longer than a number of milliseconds, or than the time
-- limit that applied before, if that is less. A limit of 0 is none.
select set_config('statement_timeout', least(%(milliseconds)s::integer,
                                             nullif(extract(epoch from current_setting('statement_timeout')::interval) * 1000, 0)::integer)::text,
                  true)
