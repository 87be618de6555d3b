"""Calling: how a handler gets its arguments, and how an async one runs."""
