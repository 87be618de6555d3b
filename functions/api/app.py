"""The API's entry point: Lambda calls `app.handler`, a local run serves `app.app`."""

import gc

# A collection during the import finds nothing to free, and later ones need not examine what was imported.
gc.disable()

from minutehand.functions.api.app import app, handler  # noqa: E402

gc.freeze()
gc.enable()

__all__ = ["app", "handler"]
