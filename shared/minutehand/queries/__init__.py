"""Reads of jobs, events and statistics."""
