"""A retry for the tests that a failed job waits: the default one's random wait can already be over."""

from datetime import timedelta

from minutehand import Retry

IN_AN_HOUR = Retry(strategy="fixed", min=timedelta(hours=1), jitter=False)
