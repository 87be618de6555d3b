-- Keeps ticks from offering anything until the end of the transaction.
select minutehand.hold_ticks()
