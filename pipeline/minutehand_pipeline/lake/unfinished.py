"""Unfinished files: local files that killed runs were writing. delta-rs renames a file at its end, and lists none."""

import re
from datetime import timedelta
from pathlib import Path
from time import time

NAME = re.compile(r".+#\d+")


def delete_unfinished(uri: str, age: timedelta, *, dry_run: bool) -> int:
    """Delete the unfinished files of a table that are at least this old, and return how many.

    An object store has none: a lifecycle rule of the bucket can end uploads that were not completed.
    """
    if "://" in uri:
        return 0
    latest = time() - age.total_seconds()
    found = (path for path in Path(uri).rglob("*#*") if NAME.fullmatch(path.name))
    old = [path for path in found if path.stat().st_mtime <= latest]
    for path in () if dry_run else old:
        path.unlink(missing_ok=True)
    return len(old)
