"""Tests of the queue: recurring."""
