"""The database's rules of entering, by the names that Postgres reports, as sentences for people."""

SENTENCES = {
    "kind_is_a_name": (
        "kind is 1 to 100 letters, digits and underscores, in parts joined by dots, each beginning with a letter"
    ),
    "queue_is_a_name": (
        "queue is 1 to 100 letters, digits, dots, dashes and underscores, and begins with a letter or digit"
    ),
    "key_fits": "key is text of 1 to 1024 bytes",
    "priority_is_0_to_9": "priority is a whole number from 0 to 9, and 9 goes first",
    "max_attempts_is_at_least_1": "max_attempts is a whole number from 1 (no retry) to 1000000",
    "timeout_is_positive": "timeout is a duration above zero and at most 24 hours",
    "moment_is_finite": "run_at is a moment of the years 1 to 9999",
    "headers_are_strings": "headers are an object whose values are strings, at most 8 KiB in all",
    "retry_is_a_strategy": (
        "retry has a strategy (fixed, linear, exponential), 0 <= min <= max <= 1 year, a factor of 0 to 1000"
    ),
    "run_at_or_delay": "say run_at or delay, not both",
    "delay_is_not_negative": "delay is not negative",
    "on_conflict_is_known": "on_conflict is replace, ignore or raise",
    "payload_is_json": "payload is JSON",
    "text_is_text": "text has no NUL character and is valid Unicode",
    "number_is_in_range": "a number or a moment is out of range",
}


def sentence(rule: str) -> str:
    """Return what a rule says."""
    return SENTENCES.get(rule, rule.replace("_", " "))
