-- Writes a temporary file of two megabytes, for which a full disk has no room. The server removes it at the end of the statement. The
-- lateral join sets the memory first, for this transaction only, so that the rows do not fit into it.
select count(*) as lines
  from (select set_config('work_mem', '64kB', true) as memory) small
 cross join lateral generate_series(1, 100000 + 0 * length(small.memory))
