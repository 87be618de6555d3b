"""Tests of the queue: retention."""
