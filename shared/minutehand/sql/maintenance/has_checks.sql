-- Whether checks of batches and of predecessors are stored.
select exists (select from minutehand.batch_checks) as batches, exists (select from minutehand.predecessor_checks) as predecessors
