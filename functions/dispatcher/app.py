"""The dispatcher's entry point: Lambda calls `app.handler`."""

import gc

# A collection during the import finds nothing to free, and later ones need not examine what was imported.
gc.disable()

from minutehand.functions.dispatcher import handler  # noqa: E402

gc.freeze()
gc.enable()

__all__ = ["handler"]
