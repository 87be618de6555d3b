"""Masks: what may be shown of a value that contains a secret."""

import re

from minutehand.settings.kinds import MASK

# Patterns as text: they are compiled when something is shown, not when a function starts.
PASSWORD = r"(?i)(\w*pass\w*\s*=\s*)('(?:[^'\\]|\\.)*'|[^&\s]*)"
WEBHOOK = r"(?i)(webhook:\s*https?://)(?:[^/?#]*@)?([^/?#\s]*).*"


def mask_all(_text: str) -> str:
    """Show nothing of a secret."""
    return MASK


def mask_database_url(text: str) -> str:
    """Replace the password of a URL or of `key=value` parameters; hide a text that is neither."""
    if not text.startswith(("postgresql://", "postgres://")):
        return _mask_passwords(text) if "=" in text else MASK
    scheme, _, rest = text.partition("://")
    head, _, query = rest.partition("?")
    if "@" in query:
        return f"{scheme}://{_mask_unclear(head)}"
    # The last @ ends the password, which may contain others.
    user_info, at, address = rest.rpartition("@")
    user, colon, _ = user_info.partition(":")
    shown = f"{user}:{MASK}" if colon else user
    return f"{scheme}://{shown}{at}{_mask_passwords(address)}"


def _mask_unclear(head: str) -> str:
    """Hide the end of a URL with an @ after the ?, which may be in the password of the user or of a parameter."""
    user_info, at, address = head.partition("@")
    user, colon, _ = user_info.partition(":")
    return f"{user}:{MASK}" if colon else f"{user_info}{at}{_mask_passwords(address)}?{MASK}"


def mask_sinks(text: str) -> str:
    """Hide all of a webhook's URL except its host: path and query may be secret."""
    return ",".join(_mask_sink(item.strip()) for item in text.split(","))


def _mask_sink(text: str) -> str:
    if text in ("", "table") or text.startswith(("eventbridge:", "sns:")):
        return text
    shown, count = re.subn(WEBHOOK, rf"\1\2/{MASK}", text)
    return shown if count else MASK


def _mask_passwords(text: str) -> str:
    return re.sub(PASSWORD, rf"\1{MASK}", text)
