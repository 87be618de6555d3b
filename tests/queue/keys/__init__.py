"""Tests of the queue: keys."""
