-- Lets the server end each further statement of the transaction that takes longer than a number of milliseconds.
select set_config('statement_timeout', %(milliseconds)s::integer::text, true)
