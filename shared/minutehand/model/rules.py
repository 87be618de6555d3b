"""The database's rules of entering, by the names that Postgres reports, as sentences for people."""

SENTENCES = {
    "kind_is_a_name": (
        "kind is 1 to 100 letters, digits and underscores, in parts joined by dots, each beginning with a letter"
    ),
    "queue_is_a_name": (
        "queue is 1 to 100 letters, digits, dots, dashes and underscores, and begins with a letter or digit"
    ),
    "key_fits": "key is text of 1 to 1024 bytes, a number, or a list of texts and numbers",
    "priority_is_0_to_9": "priority is a whole number from 0 to 9, and 9 goes first",
    "max_attempts_is_at_least_1": "max_attempts is a whole number from 1 (no retry) to 1000000",
    "timeout_is_positive": "timeout is a duration above zero and at most 24 hours",
    "moment_is_finite": "run_at is a moment of the years 1 to 9999",
    "headers_are_strings": "headers are an object whose values are strings, at most 8 KiB in all",
    "retry_is_a_strategy": (
        "retry has a strategy (fixed, linear, exponential), 0 <= min <= max <= 1 year, a factor of 0 to 1000"
    ),
    "every_recurs": (
        "every is a cron expression of 5 or 6 fields, @hourly, @daily, @weekly, @monthly, @yearly,"
        " or an ISO 8601 duration such as P1D or PT15M"
    ),
    "zone_is_known": "zone is a time zone of the IANA database, such as Europe/Berlin",
    "schedule_is_named": "a schedule's name is text of 1 to 200 characters",
    "schedule_has_a_job": "a schedule's job is a minutehand.NewJob, without a moment or tenant of its own",
    "schedule_ends_later": "a schedule ends later than it starts",
    "schedule_is_own": "a source installs its own schedules only",
    "jitter_is_up_to_a_day": "jitter is a duration from zero to 24 hours",
    "ahead_is_up_to_a_month": "ahead is a duration from zero to 31 days",
    "ahead_allows_overlap": "what is enqueued ahead of its moment overlaps: ahead goes with overlap allow",
    "catch_up_is_known": "catch_up is none, last or all",
    "overlap_is_known": "overlap is allow, skip or replace",
    "most_is_1_to_1000": "most is a whole number from 1 to 1000",
    "preview_is_bounded": "a preview has 1 to 1000 moments",
    "run_at_or_delay": "say run_at or delay, not both",
    "delay_is_not_negative": "delay is not negative",
    "on_conflict_is_known": "on_conflict is replace, ignore, raise or merge",
    "payloads_merge": "merge joins two arrays or two objects, none of them encrypted or with \\u0000 in it",
    "key_is_said": "unique_while, unique_for, debounce and throttle are about a key: say one",
    "unique_while_is_known": "unique_while is upcoming or running",
    "period_is_positive": "unique_for, debounce and throttle are durations above zero",
    "debounce_max_is_longer": "debounce_max is a duration that goes with debounce, and is not shorter",
    "one_period": "say one of unique_for, debounce and throttle",
    "run_at_or_debounce": "say debounce, or run_at or delay",
    "debounce_moves": "debounce goes with on_conflict replace or merge",
    "every_has_a_beginning": "a cron expression needs its first run_at in SQL; Python and the command line compute it",
    "every_or_debounce": "say every, or debounce or throttle",
    "zone_is_of_every": "zone is the time zone of every: say both, or give run_at its offset",
    "personal_is_yes_or_no": "personal is true or false",
    "payload_is_json": "payload is JSON",
    "tenant_is_a_name": (
        "a tenant is 1 to 100 letters, digits, dots, dashes, underscores, colons and @; the first is a letter or digit"
    ),
    "tenant_is_own": "who is confined to a tenant enqueues for that tenant only",
    "tenant_is_said": "this role enqueues for a tenant: say which one, in minutehand.as_tenant",
    "wait_is_alone": "wait in autocommit, outside of a transaction: a job that is not committed is nobody's",
    "text_is_text": "text has no NUL character and is valid Unicode",
    "number_is_in_range": "a number or a moment is out of range",
}


def sentence(rule: str) -> str:
    """Return what a rule says."""
    return SENTENCES.get(rule, rule.replace("_", " "))
