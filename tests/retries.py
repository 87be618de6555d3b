"""A retry whose wait does not end during a test. The default one's is random, and may be close to zero."""

from datetime import timedelta

from minutehand import Retry

IN_AN_HOUR = Retry(strategy="fixed", min=timedelta(hours=1), jitter=False)
