-- Drop days from the default partition by exchanging it for one without them; return the outcome.
select minutehand.exchange_default(%(home)s, %(days)s::date[]) as outcome
