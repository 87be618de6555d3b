"""Middleware of workers whose handlers use Django: set MINUTEHAND_MIDDLEWARE to minutehand.integrations.django.worker.

It sets up Django before the first handler, and closes connections that have broken or reached CONN_MAX_AGE between
jobs, as Django does between requests.
"""

from typing import Any

import django
from django.apps import apps
from django.db import close_old_connections

from minutehand.claimed_job import Job
from minutehand.middleware import Next


def fresh_connections(job: Job, call_next: Next) -> Any:
    """Run a handler between two checks of this thread's connections."""
    if not apps.ready:
        django.setup()
    close_old_connections()
    try:
        return call_next(job)
    finally:
        close_old_connections()


middleware = [fresh_connections]
