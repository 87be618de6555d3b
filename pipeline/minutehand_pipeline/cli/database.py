"""Pass the database's URL to Spark's tasks."""

import os

from minutehand.cli.options import said_url, url_of_local_run


def export_database_url() -> None:
    """Set DATABASE_URL from the option or the local run, because Spark's tasks run in other processes."""
    if url := said_url() or url_of_local_run():
        os.environ["DATABASE_URL"] = url
