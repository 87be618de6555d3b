"""`minutehand dev`: a local run, which requires the `local` extra."""

from minutehand.local.dev import dev

__all__ = ["dev"]
