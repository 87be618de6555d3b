"""The worker's entry point: Lambda calls `app.handler`, which runs the kinds in `handlers/`."""

import gc

# A collection during the import finds nothing to free, and later ones need not examine what was imported.
gc.disable()

from minutehand.functions.worker import handler  # noqa: E402

gc.freeze()
gc.enable()

__all__ = ["handler"]
