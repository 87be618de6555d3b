"""Tests of the queue itself, on every server and through a pooler."""
