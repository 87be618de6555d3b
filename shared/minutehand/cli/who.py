"""Who it is that types: the login's name, for the audit trail."""

import getpass


def who() -> str | None:
    """Return the name of this machine's login, or None where it has none; then the database's user is told."""
    try:
        return getpass.getuser()
    except (KeyError, OSError, ImportError):
        return None
