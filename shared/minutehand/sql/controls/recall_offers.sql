-- Recalls the offers of paused jobs, so that none can be claimed.
select id from minutehand.recall_offers(row(0, %(tenant)s::text, %(queue)s::text, %(kind)s::text, %(key)s::text, %(group)s::text, '', false, '', 0)::minutehand.bound)
