"""Tests of the queue: roles."""
