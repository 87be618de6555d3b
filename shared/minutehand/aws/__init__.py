"""AWS: the only package that imports boto3 and botocore."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from minutehand.aws.events import EventBus, Topic
    from minutehand.aws.invoke import LambdaInvoker
    from minutehand.aws.kms import KmsKeys
    from minutehand.aws.scheduler import Scheduler
    from minutehand.aws.secrets import secret_text
    from minutehand.aws.tokens import database_token

__all__ = ["EventBus", "KmsKeys", "LambdaInvoker", "Scheduler", "Topic", "database_token", "secret_text"]
MODULES = {
    "EventBus": "events",
    "KmsKeys": "kms",
    "LambdaInvoker": "invoke",
    "Scheduler": "scheduler",
    "Topic": "events",
    "database_token": "tokens",
    "secret_text": "secrets",
}


def __getattr__(name: str) -> Any:
    """Import only the requested module, because boto3 is slow to import."""
    if name not in MODULES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{MODULES[name]}"), name)
