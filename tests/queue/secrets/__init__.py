"""Tests of the queue: secrets."""
