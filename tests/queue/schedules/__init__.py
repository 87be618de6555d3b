"""Tests of the queue: schedules."""
