"""The location of a lake and the tables in it."""

import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from minutehand_pipeline.errors import InputError, LakeError
from minutehand_pipeline.lake.table import Table
from minutehand_pipeline.schemas import Home

STORES = ("s3", "s3a", "gs", "az", "abfs", "abfss")
# Spark or delta-rs would read these characters as a pattern or an escape.
PATTERNS = "[]{}*?%\\"
SECRETS = ("secret", "password", "token", "access_key", "account_key", "sas")


@dataclass(frozen=True)
class Lake:
    """A folder, or an s3://, gs:// or abfss:// address, with one table per home.

    `storage` holds object store options that are not secret, such as the region. Credentials come from the
    environment (such as AWS_ACCESS_KEY_ID) or from the machine's role.
    """

    path: str
    storage: Mapping[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Reject secrets, which would appear in Spark's plans, and paths that Spark would misread."""
        for name in self.storage:
            if any(word in name.lower() for word in SECRETS):
                raise InputError(
                    f"{name} is a secret: set it in the environment instead of passing it as an option"
                )
        if self.local:
            object.__setattr__(self, "path", _folder(self.path))
        elif self.path.partition("://")[0] not in STORES:
            raise InputError(f"lake must be a folder or an address of {', '.join(STORES)}, got {self.path}")

    @property
    def local(self) -> bool:
        """Whether the lake is in a file system rather than in an object store."""
        return "://" not in self.path

    @property
    def options(self) -> dict[str, str] | None:
        """The object store options. An AWS_ENDPOINT_URL with http:// allows plain HTTP."""
        plain = os.environ.get("AWS_ENDPOINT_URL", "").startswith("http://")
        return {**({"allow_http": "true"} if plain else {}), **self.storage} or None

    def table(self, home: Home) -> Table:
        """Return a home's table, whether it exists or not."""
        return Table(f"{self.path.rstrip('/')}/{home.lake}", home, self.options)

    def check_exists(self) -> None:
        """Raise LakeError for a folder that does not exist: the path is probably mistyped."""
        if self.local and not Path(self.path).is_dir():
            raise LakeError(
                f"there is no lake {self.path}: pass the folder that `minutehand pipeline archive` writes"
            )


def _folder(path: str) -> str:
    folder = Path(path).absolute()
    if not path or set(str(folder)) & set(PATTERNS):
        raise InputError(f"lake must be a folder whose path has none of {' '.join(PATTERNS)}, got {path!r}")
    if folder.is_file():
        raise InputError(f"lake must be a folder, but {path} is a file")
    return str(folder)
