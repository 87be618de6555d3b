-- The budget: how many jobs may be offered or running at once, lowered when offers lapse.
-- Workers that cannot keep up are then not invited again and again for the same backlog.
--
--   since     when the tick before the last one was: what lapsed between the two is counted once
--   budget    what the last lapse left of the capacity; null as long as none did
--   lapsed    when that was; from ten minutes later on the budget grows again

alter table minutehand.dispatcher
    add column since  timestamptz not null default '-infinity',
    add column budget integer constraint budget_is_at_least_1 check (budget >= 1),
    add column lapsed timestamptz constraint a_budget_has_a_lapse check ((budget is null) = (lapsed is null));
