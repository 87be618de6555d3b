"""The rules that a job must meet, by the names that Postgres reports, and the sentence of each.

The database function `minutehand.sentence()` has those of the rules that SQL checks; a test compares the two.
"""

SENTENCES = {
    "kind_is_a_name": (
        "kind must be 1 to 100 letters, digits and underscores, in parts joined by dots, each starting with a letter"
    ),
    "queue_is_a_name": (
        "queue must be 1 to 100 letters, digits, dots, dashes and underscores, starting with a letter or digit"
    ),
    "key_fits": "key must be a text of 1 to 1024 bytes, a number, or a list of texts and numbers",
    "group_fits": "group must be a text of 1 to 1024 bytes, a number, or a list of texts and numbers",
    "priority_is_0_to_9": "priority must be an integer from 0 to 9",
    "max_attempts_is_at_least_1": "max_attempts must be an integer from 1 (no retry) to 1000000",
    "timeout_is_positive": "timeout must be a duration above zero and at most 24 hours",
    "expires_is_positive": "expires must be a duration above zero and at most 3650 days",
    "time_is_finite": "run_at must be a time in the years 1 to 9999",
    "headers_are_strings": "headers must be an object of strings, at most 8 KiB in total",
    "retry_is_a_strategy": (
        "retry must have a strategy (fixed, linear or exponential), 0 <= min <= max <= 1 year,"
        " and a factor from 0 to 1000"
    ),
    "every_recurs": (
        "every must be a cron expression of 5 or 6 fields, @hourly, @daily, @weekly, @monthly, @yearly,"
        " or an ISO 8601 duration such as P1D or PT15M"
    ),
    "every_fits": "every must have at most 200 characters",
    "zone_is_known": "zone must be an IANA time zone such as Europe/Berlin, or UTC",
    "schedule_is_named": "the name of a schedule must have 1 to 200 characters",
    "schedule_has_a_job": (
        "the job of a schedule must be a minutehand.NewJob without run_at, delay, every, zone, tenant, batch and after"
    ),
    "schedule_ends_later": "a schedule must end after it starts",
    "schedule_is_own": "the schedule belongs to another source; delete it there, or rename yours",
    "jitter_is_up_to_a_day": "jitter must be a duration from zero to 24 hours",
    "ahead_is_up_to_a_month": "ahead must be a duration from zero to 31 days",
    "ahead_allows_overlap": "ahead requires overlap to be allow",
    "catch_up_is_known": "catch_up must be none, last or all",
    "overlap_is_known": "overlap must be allow, skip or replace",
    "max_catch_up_is_1_to_1000": "max_catch_up must be an integer from 1 to 1000",
    "keep_is_bounded": "a retention must be a duration from zero to 36500 days, or forever",
    "preview_is_bounded": "a preview must have 1 to 1000 occurrences",
    "run_at_or_delay": "expected run_at or delay, got both",
    "delay_is_not_negative": "delay must not be negative",
    "on_conflict_is_known": "on_conflict must be replace, ignore, raise or merge",
    "payloads_merge": "merge requires two arrays or two objects, unencrypted and without \\u0000",
    "key_is_set": "unique_while, unique_for, debounce and throttle require a key",
    "unique_while_is_known": "unique_while must be upcoming or running",
    "period_is_positive": "unique_for, debounce and throttle must be durations above zero",
    "debounce_max_is_longer": "debounce_max requires debounce, and must not be shorter than it",
    "batch_is_an_id": "batch must be the id of a batch, a UUID",
    "batch_or_key": "a job of a batch must have no key and no every",
    "after_fits": "after must have 1 to 100 ids of jobs",
    "after_or_key": "a job with after must have no key and no every",
    "after_failure_is_known": "after_failure must be cancel, run or wait, and requires after",
    "one_period": "expected at most one of unique_for, debounce and throttle",
    "run_at_or_debounce": "debounce must not be combined with run_at or delay",
    "debounce_moves": "debounce requires on_conflict to be replace or merge",
    "every_has_a_beginning": "in SQL, a cron expression requires run_at; Python and the command line compute it",
    "batch_is_shallow": "a batch must be nested in at most nine others",
    "every_or_debounce": "every must not be combined with debounce or throttle",
    "zone_is_of_every": "zone requires every; without every, give run_at a UTC offset",
    "on_dead_is_a_job": (
        "on_dead must be a kind, or a job with no fields but kind, payload (an object), queue, priority, max_attempts,"
        " retry, timeout, headers, expires and on_dead; at most 8 KiB in total and 3 levels deep"
    ),
    "on_dead_is_clear": "on_dead must have no payload if payloads are encrypted",
    "personal_is_yes_or_no": "personal must be true or false",
    "payload_is_json": "payload must be JSON",
    "tenant_is_a_name": (
        "tenant must be 1 to 100 letters, digits, dots, dashes, underscores, colons and @,"
        " starting with a letter or digit"
    ),
    "tenant_is_own": "a session of a tenant must enqueue only for that tenant",
    "tenant_is_set": "this role must set a tenant: call minutehand.as_tenant first",
    "wait_is_alone": "wait must be called outside a transaction: an uncommitted job cannot run",
    "text_is_text": "text must be valid Unicode without NUL characters",
    "value_is_set": "a value must not be null: set it, or leave it out so that its default applies",
    "value_fits": "a value must be shorter or nested less deeply",
    "value_has_its_form": "a value must have the form of its type",
    "number_is_in_range": "a number or a time is out of range",
}

# The database writes the messages of these, because they contain the value that it received, or its length. An option
# with such a rule also has a sentence above: Python's own check uses it for a value of the wrong type.
LIMITS = frozenset(
    [
        "after_exists",
        "batch_exists",
        "batch_is_open",
        "error_fits",
        "every_fits",
        "facts_fits",
        "job_fits",
        "label_fits",
        "load_is_complete",
        "max_jobs_fits",
        "payload_fits",
        "reason_fits",
        "result_fits",
        "source_fits",
        "staged_text_fits",
    ]
)


def sentence(rule: str) -> str:
    """Return the sentence of a rule, or its name in words."""
    return SENTENCES.get(rule, rule.replace("_", " "))
