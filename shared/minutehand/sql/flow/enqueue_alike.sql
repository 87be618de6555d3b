-- Enqueues jobs of a bulk that differ only in payload and time.
select minutehand.enqueue_alike(
       json_populate_record(null::minutehand.new_jobs, %(options)s::json), %(payloads)s::json,
       offsets => %(offsets)s::text::integer[], ids => %(ids)s::text::uuid[],
       run_ats => %(run_ats)s::text::timestamptz[], delays => %(delays)s::text::interval[],
       since => %(since)s::timestamptz) as moment
