"""The one package that knows AWS: invoking a worker function, reading a secret, signing in to a database."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from minutehand.aws.events import EventBus, Topic
    from minutehand.aws.invoke import LambdaInvoker
    from minutehand.aws.kms import KmsKeys
    from minutehand.aws.secrets import secret_text
    from minutehand.aws.tokens import database_token

__all__ = ["EventBus", "KmsKeys", "LambdaInvoker", "Topic", "database_token", "secret_text"]
HOMES = {
    "EventBus": "events", "KmsKeys": "kms", "LambdaInvoker": "invoke", "Topic": "events", "database_token": "tokens",
    "secret_text": "secrets",
}  # fmt: skip


def __getattr__(name: str) -> Any:
    """Import what is asked for and no more: who reads a secret does not pay for boto3."""
    if name not in HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{HOMES[name]}"), name)
