"""Reads: jobs, events, statistics."""
