-- The budget: how many jobs of a queue may be offered or running at once, lowered when offers lapse.
-- Workers that cannot keep up are then not invited again and again for the same backlog, and those of other queues
-- are none the worse for it.
--
--   dispatcher.since   when the tick before the last one was: what lapsed between the two is counted once
--   budgets            what lapses left of the capacity; a queue without any has no row
--     lapsed           when the last of them was: from ten minutes later on the budget grows again

set local lock_timeout = '10s';  -- short of a lock it gives up, rather than have every tick wait behind it

alter table minutehand.dispatcher add column since timestamptz not null default '-infinity';

create table minutehand.budgets (
    queue  minutehand.queue primary key,
    budget integer          not null constraint budget_is_at_least_1 check (budget >= 1),
    lapsed timestamptz      not null
);
