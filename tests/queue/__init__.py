"""Tests of the queue: the library against a real database."""
