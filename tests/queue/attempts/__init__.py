"""Tests of the queue: attempts."""
