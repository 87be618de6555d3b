"""Pass the database's URL to Spark's tasks."""

import os

from minutehand.cli.options import given_url, local_run_url


def export_database_url() -> None:
    """Set DATABASE_URL from the option or the local run, because Spark's tasks run in other processes."""
    if url := given_url() or local_run_url():
        os.environ["DATABASE_URL"] = url
