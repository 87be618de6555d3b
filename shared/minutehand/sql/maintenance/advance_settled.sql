-- Advances `settled`, the latest known time of which all transactions that had begun to write have ended. Takes a mark,
-- the time, the id of this transaction and that of the oldest writer before it, and waits until all transactions with lower ids have ended. Without other
-- writers, that is now. A dispatcher's row that another session has locked or changed, or that has a mark younger
-- than `pause`, stays as it is.
with before as materialized (
    select xmin as was, mark from minutehand.dispatcher
), writer as materialized (
    select w.before, w.own, w.oldest from minutehand.oldest_writer() w
), state as materialized (
    select was, mark, writer.before, own, oldest, oldest >= own as quiet, coalesce(pg_snapshot_xmax(mark) <= oldest, true) as ended,
           -- The database was restored on another server, where the transactions of the mark do not exist.
           coalesce(pg_snapshot_xmax(mark) > own, false) as restored
      from before, writer
), free as materialized (
    select from minutehand.dispatcher for update skip locked
)
update minutehand.dispatcher d
   -- The start of this transaction, which is not later than its id.
   set settled = case when quiet then coalesce(%(now)s, now()) else coalesce(d.marked, d.settled) end,
       settled_xid = case when quiet then s.before when restored then '0' else coalesce(pg_snapshot_xmin(s.mark), '0') end,
       marked = coalesce(%(now)s, now()), mark = format('%%s:%%s:', s.before, own)::pg_snapshot
  from state s, free
 where d.xmin = s.was and (quiet or ended or restored)
   and (d.marked is null or d.marked <= coalesce(%(now)s, now()) - %(pause)s::interval or d.marked > coalesce(%(now)s, now()))
returning settled
