"""The libraries of callers, and the code for them, are loaded only when one of their connections is passed."""

import subprocess
import sys

LIBRARIES = ["asyncpg", "django", "psycopg2", "sqlalchemy", "minutehand.integrations"]
PROGRAM = f"""
import sys
import minutehand.work, minutehand.operations.jobs, minutehand.queries.jobs
assert not {{*{LIBRARIES!r}, "minutehand.database.async_database"}} & sys.modules.keys()
"""


def test_no_library_of_callers_is_loaded_in_advance() -> None:
    subprocess.run([sys.executable, "-c", PROGRAM], check=True)
