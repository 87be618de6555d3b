-- Keeps ticks from making offers until the end of the transaction.
select minutehand.hold_ticks()
