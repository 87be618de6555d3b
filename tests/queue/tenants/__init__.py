"""Tests of the queue: tenants."""
