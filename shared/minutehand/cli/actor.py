"""The actor of a change, for the audit trail: the login name."""

import getpass


def actor() -> str | None:
    """Return the login name, or None if there is none; the audit trail then has the database user."""
    try:
        return getpass.getuser()
    except (KeyError, OSError, ImportError):
        return None
