-- Withdraws offers of offer_now whose invitation was refused.
select minutehand.withdraw_now(%(ids)s::uuid[], %(acks)s::uuid[])
