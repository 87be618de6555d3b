-- Advances `settled`, the latest known time of which all transactions that had begun to write have ended. Takes a mark,
-- the time, the id of this transaction and that of the oldest writer before it, and waits until all transactions with lower ids have ended. Without other
-- writers, that is now. A dispatcher's row that another session has locked or changed, or that has a mark younger
-- than `pause`, stays as it is.
--
-- Also raises `busy_since`: no unfinished job was claimed before it, or if it has no claim, offered. Counts of offered and running jobs
-- start there, past the index entries of finished jobs that vacuum cannot remove while a snapshot is old. It stays 6 seconds below the
-- first claim or offer that this statement sees, and below `settled`: transactions that have not ended may add others. Later ones have
-- the time of their statement, which is that of the server even if a test sets the time of a tick. The offer of a lapsed claim
-- does not count, since it may be withdrawn, and a lapsed claim does, since its worker may still extend it.
with before as materialized (
    select xmin as was, mark from minutehand.dispatcher
), writer as materialized (
    select w.before, w.own, w.oldest from minutehand.oldest_writer() w
), state as materialized (
    select was, mark, writer.before, own, oldest, oldest >= own as quiet, coalesce(pg_snapshot_xmax(mark) <= oldest, true) as ended,
           -- The database was restored on another server, where the transactions of the mark do not exist.
           coalesce(pg_snapshot_xmax(mark) > own, false) as restored
      from before, writer
), first as materialized (
    select min(coalesce(j.claimed, j.offered)) as start
      from minutehand.jobs_live j
     where coalesce(j.offered, j.claimed) is not null
       and coalesce(j.claimed, j.offered) >= (select busy_since from minutehand.dispatcher)
), free as materialized (
    select from minutehand.dispatcher for update skip locked
)
update minutehand.dispatcher d
   -- The start of this transaction, which is not later than its id.
   set settled = case when quiet then coalesce(%(now)s, now()) else coalesce(d.marked, d.settled) end,
       settled_xid = case when quiet then s.before when restored then '0' else coalesce(pg_snapshot_xmin(s.mark), '0') end,
       -- If it is not in the past, the clock was set back.
       busy_since = case when d.busy_since > now() then '-infinity'
                         else greatest(d.busy_since, least(first.start, d.settled, now()) - interval '6 seconds') end,
       marked = coalesce(%(now)s, now()), mark = format('%%s:%%s:', s.before, own)::pg_snapshot
  from state s, first, free
 where d.xmin = s.was and (quiet or ended or restored)
   and (d.marked is null or d.marked <= coalesce(%(now)s, now()) - %(pause)s::interval or d.marked > coalesce(%(now)s, now()))
returning settled
