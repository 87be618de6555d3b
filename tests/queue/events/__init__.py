"""Tests of the queue: events."""
