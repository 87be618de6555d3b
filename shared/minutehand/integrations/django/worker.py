"""Middleware of workers whose handlers use Django: set MINUTEHAND_MIDDLEWARE to minutehand.integrations.django.worker.

It sets up Django before the first handler, and closes connections that have broken or reached CONN_MAX_AGE between
jobs, as Django does between requests.
"""

from typing import Any

import django
from asgiref.sync import SyncToAsync
from django.apps import apps
from django.db import close_old_connections

from minutehand.claimed_job import AsyncJob, Job
from minutehand.middleware import Next


def fresh_connections(job: Job, call_next: Next) -> Any:
    """Run a handler between two checks of this thread's connections."""
    if not apps.ready:
        django.setup()
    close_old_connections()
    if isinstance(job, AsyncJob):
        # Django's async functions use connections of this thread.
        SyncToAsync.single_thread_executor.submit(close_old_connections).result()
    try:
        return call_next(job)
    finally:
        close_old_connections()


middleware = [fresh_connections]
