-- Deletes a chunk of the upcoming jobs of a queue.
select id, batch, awaited from minutehand.delete_upcoming(%(queue)s, %(limit)s)
