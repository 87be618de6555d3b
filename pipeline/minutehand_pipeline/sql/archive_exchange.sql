-- Drops days that lie in the default partition, by exchanging it for one without them; says what became of it.
select minutehand.exchange_default(%(home)s, %(days)s::date[]) as outcome
